#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hewn/core/grid.h"
#include "hewn/nn/model.h"
#include "hewn/runtime/model_file.h"
#include "hewn/train/run_folder.h"

namespace hewn::train {

/// A network's parameters and which blocks of them are kept.
struct Weights {
  std::map<std::string, at::Tensor> tensors;         // a state dict
  std::map<std::string, std::vector<int64_t>> kept;  // layer -> kept blocks, for pruned layers only
  BlockShape block;                                  // of pruned layers
};

/// The network as the runtime wants it: batch norms folded into the layers before them, kept blocks only.
/// Layers that were not pruned become a few large blocks. Throws Error where the model cannot be described,
/// or where a weight is not zero outside its kept blocks.
runtime::ModelData export_model(const nn::Model& model, const runtime::Shape& input, const Weights& weights);

/// Bytes of the file that would hold the model, with values as 32-bit floats.
int64_t file_bytes(const runtime::ModelData& model);

/// One layer of an exported model; an embedding's table is a dense one of rows x numbers per field.
struct ExportedLayer {
  std::string name;
  Grid grid;
  int64_t kept = 0;  // blocks
  bool pruned = false;
  int64_t bytes = 0;        // in the file
  int64_t bytes_dense = 0;  // as 32-bit floats without blocks
};

struct ExportReport {
  std::vector<ExportedLayer> layers;
  int64_t bytes = 0;        // of the file
  int64_t bytes_dense = 0;  // of all layers
};

/// A finished run's network, and what it was made from.
struct ExportedRun {
  runtime::ModelData data;
  Weights weights;
};
ExportedRun exported_run(const RunFolder& run);

/// Writes a finished run's model.safetensors as a model.hewn file. `type` is that of the values: kF32 or
/// kBF16.
ExportReport export_run(const RunFolder& run, const std::filesystem::path& to, io::DType type);

/// One sample's shape (of a click log: its fields) as channels x height x width; a vector is an image of one
/// pixel.
runtime::Shape image_shape(const std::vector<int64_t>& input);

}  // namespace hewn::train

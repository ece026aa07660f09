#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hewn/core/grid.h"
#include "hewn/deploy/trained.h"
#include "hewn/export.h"
#include "hewn/flow/shrink/shrink.h"
#include "hewn/run/folder.h"
#include "hewn/runtime/model_file.h"

namespace hewn::deploy {

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
  int64_t bytes_dense = 0;  // of all layers, with those units that are gone
  flow::Shrunk removed;     // units that no output depends on
};

/// A finished run's network as the runtime wants it. Throws Error for one that its graph has no words for.
runtime::ModelData exported_run(const run::Folder& run);

/// The layers of a network in the runtime's form. `type`: that of the values in its file; none: what the data
/// say. `bytes` of the whole is left at 0.
ExportReport report_on(const runtime::ModelData& model, std::optional<io::DType> type = {});

/// Throws Error where no file with this suffix is written, or none with values of that type: asked before
/// anything is read.
void check_export_file(const std::filesystem::path& to, io::DType type);

/// Writes a trained network; .hewn and .onnx files without units that no output depends on. The suffix of the
/// file is its format: .hewn, where `type` is that of the values (kF32 or kBF16; networks with attention have
/// kF32 alone), .onnx, .safetensors, the weights and which blocks of them are kept, or .pt or .pth, the
/// tensors as a state dict of PyTorch.
ExportReport export_trained(const Trained& trained, const std::filesystem::path& to, io::DType type);
ExportReport export_run(const run::Folder& run, const std::filesystem::path& to, io::DType type);

/// One sample's shape (of a click log: its fields) as channels x height x width; a vector is an image of one
/// pixel.
runtime::Shape image_shape(const std::vector<int64_t>& input);

}  // namespace hewn::deploy

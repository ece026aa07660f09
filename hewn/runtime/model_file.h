#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hewn/core/json.h"
#include "hewn/core/preprocessing.h"
#include "hewn/io/safetensors.h"
#include "hewn/kernels/bsr.h"
#include "hewn/runtime/graph.h"
#include "hewn/runtime/shapes.h"

namespace hewn::runtime {

/// The kept blocks of one weight, seen as (taps * input channels) x outputs, and a bias for every output.
struct Layer {
  kernels::BsrPattern pattern;
  std::vector<float> values;  // [kept][block.cols][block.rows]
  std::vector<float> bias;
  bool bf16 = false;  // the values are bf16 numbers, which a file holds in half the bytes
};

/// The rows of one embedding, those of all fields one behind the other.
struct Table {
  std::vector<float> values;  // [rows][width]
  bool bf16 = false;          // the values are bf16 numbers, and may be kept as such
};

/// What a model.hewn file holds; docs/formats.md describes it.
struct ModelData {
  std::string model;  // names, for people
  std::string method;
  Graph graph;
  std::map<std::string, Layer> layers;          // by the name of their node
  std::map<std::string, Table> tables;          // likewise
  std::vector<std::string> classes;             // names of the outputs; may be none
  Json preprocessing;                           // an object: how inputs are made; null where nothing is said
  Arrays arrays;                                // that the preprocessing needs
  std::map<std::string, std::string> metadata;  // anything else, for people
};

/// Writes format version 2, atomically, with a checksum. `type` is that of kept values and tables: kF32 or
/// kBF16.
void write_model(const std::filesystem::path& path, const ModelData& model, io::DType type = io::DType::kF32);

/// Reads versions 1 and 2. Checks everything that running relies on: lengths, indices, shapes, edges, and
/// what it will ask of memory and time. Throws FormatError naming the file.
ModelData read_model(const std::filesystem::path& path, const Limits& limits = {});

/// The same for bytes in memory, called `where` in errors. Without `sealed` the checksum is not looked at.
ModelData parse_model(std::string bytes, const std::string& where, const Limits& limits, bool sealed = true);

}  // namespace hewn::runtime

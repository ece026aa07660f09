#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hewn/core/json.h"
#include "hewn/deploy/export.h"

namespace hewn::deploy {

/// What a file holds of a network, for people.
struct FileReport {
  bool weights = false;  // of any program; else a model.hewn file, which has all of these
  std::string model;
  std::string method;
  runtime::Shape input;
  int64_t outputs = 0;
  std::vector<std::string> classes;
  Json preprocessing;       // null where the file has none
  int64_t array_bytes = 0;  // that it needs beside it
  ExportReport content;     // bytes of layers as they are in the file
  int64_t other_bytes = 0;  // weights: of vectors and numbers, which are no layers
  std::string note;         // of a PyTorch file: what was taken from it and left out
};

/// A model.hewn file, a PyTorch file, or a safetensors file with or without kept blocks ("hewn.blocks") in
/// its metadata: each tensor of two dimensions or more is a layer there. Throws FormatError.
FileReport inspect_file(const std::filesystem::path& path);

/// What the file's preprocessing takes and does, in a line; "" where it has none.
std::string preprocessing_text(const FileReport& report);

/// With the name of the file.
Json to_json(const FileReport& report, const std::string& file);
Json to_json(const ExportedLayer& layer);

}  // namespace hewn::deploy

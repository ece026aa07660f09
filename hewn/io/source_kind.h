#pragma once

#include <filesystem>
#include <string_view>

namespace hewn::io {

/// What a path is, by its content: names and suffixes say nothing.
enum class SourceKind {
  kMissing,
  kUnreadable,  // is there, but may not be looked at
  kSpecial,     // a pipe, a device or a socket; not read
  kRun,         // a folder with a config.json that has "options"
  kSweep,       // a folder with a sweep.json
  kFolder,      // any other
  kModel,       // what hewn export writes: safetensors with "hewn.format" in its metadata
  kWeights,     // other safetensors
  kDamaged,     // begins like safetensors and does not go on so
  kTorch,       // torch.save's archive, or a pickle as it wrote before
  kOnnx,
  kSelector,  // a JSON object with "hewn": "select"
  kNpy,
  kNpz,
  kImage,
  kUnknown
};

/// Reads the first bytes, or the header, of a regular file. Whatever is in there, it answers and throws
/// nothing.
SourceKind kind_of(const std::filesystem::path& path);

/// Whether bytes begin as an image file does.
bool starts_as_image(std::string_view start);

/// With its article, to stand behind "is".
std::string_view name_of(SourceKind kind);

}  // namespace hewn::io

// What stands for the other files of this folder where libonnx is not installed.
#include "hewn/core/error.h"
#include "hewn/onnx/edit.h"
#include "hewn/onnx/export.h"
#include "hewn/onnx/import.h"

namespace hewn::onnx {

void require_onnx() {
  throw Error(
      "this build of hewn knows no ONNX files: install libonnx-dev and libprotobuf-dev, then build it again");
}

flow::Graph read_onnx(const std::filesystem::path&) {
  require_onnx();
  return {};
}

flow::Graph parse_onnx(const std::string&, const std::string&, const std::filesystem::path&) {
  require_onnx();
  return {};
}

std::map<std::string, std::string> read_metadata(const std::filesystem::path&) {
  require_onnx();
  return {};
}

std::string replace_constants(const std::filesystem::path&, const std::map<std::string, flow::Tensor>&) {
  require_onnx();
  return {};
}

void write_onnx(const std::filesystem::path&, const flow::Graph&, const FileOptions&) { require_onnx(); }

std::string onnx_bytes(const flow::Graph&, const FileOptions&) {
  require_onnx();
  return {};
}

}  // namespace hewn::onnx

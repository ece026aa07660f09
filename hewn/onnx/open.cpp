#include "hewn/onnx/open.h"

#include "hewn/core/error.h"
#include "hewn/flow/model_file.h"
#include "hewn/io/source_kind.h"
#include "hewn/onnx/import.h"

namespace hewn::onnx {

namespace {

flow::Network open(const std::filesystem::path& path) {
  const io::SourceKind kind = io::kind_of(path);
  if (kind == io::SourceKind::kOnnx) return flow::Network(read_onnx(path));
  if (kind != io::SourceKind::kModel) {
    throw FormatError(path.string(),
                      str("is ", io::name_of(kind), "; expected an ONNX file or a model.hewn of version 3"));
  }
  flow::FlowModel model = flow::read_flow_model(path);
  const int64_t block = model.block();
  return flow::Network(std::move(model.graph), block);
}

}  // namespace

flow::Network open_network(const std::filesystem::path& path) {
  try {
    return open(path);
  } catch (const FormatError&) {
    throw;
  } catch (const Error& problem) {  // what a graph cannot be is found when it is made ready
    throw FormatError(path.string(), problem.what());
  }
}

}  // namespace hewn::onnx

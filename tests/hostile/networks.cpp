// The part of the corpus that holds networks of general tensors: ONNX files and model files of version 3.
#include <utility>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/flow/model_file.h"
#include "hewn/flow/network.h"
#include "hewn/flow/passes/simplify.h"
#include "hewn/onnx/import.h"
#include "tests/hostile/corpus.h"

namespace hewn::test {
namespace {

// What a file may ask a run for is more than what reading it takes; damaged ones that ask for more are not
// run.
constexpr int64_t kMostInputs = 1 << 16;

/// What inspect and predict do.
void run_network(const flow::Graph& graph) {
  flow::Graph simple = graph;
  flow::simplify(simple);
  flow::Network network(graph);
  std::vector<flow::Tensor> inputs;
  for (const flow::Port& port : graph.inputs) {
    flow::Spec spec = port.spec;
    for (int64_t& dim : spec.dims) dim = dim < 0 ? 2 : dim;
    if (spec.elements() > kMostInputs) return;
    inputs.emplace_back(spec);
  }
  network.run(inputs);
}

}  // namespace

void Corpus::add_networks() {
  const std::string fuzz = HEWN_SOURCE_DIR "/tests/fuzz/";
  for (const char* name : {"0.hewn", "1.hewn", "2.hewn", "3.hewn"}) {
    const std::filesystem::path file = folder_ / (std::string("network-") + name);
    std::filesystem::copy_file(fuzz + "flow_model/" + name, file);
    for (const char* kind : {"network: ", "forged network: "})
      add(kind + std::string(name), file, [file] { run_network(flow::read_flow_model(file).graph); });
  }
#if HEWN_ONNX
  for (const char* name :
       {"Conv.onnx", "Gemm.onnx", "Reshape.onnx", "Resize.onnx", "Slice.onnx", "TopK.onnx"}) {
    const std::filesystem::path file = folder_ / name;
    std::filesystem::copy_file(fuzz + "onnx/" + name, file);
    add(std::string("onnx: ") + name, file, [file] { run_network(onnx::read_onnx(file)); });
  }
#endif
}

}  // namespace hewn::test

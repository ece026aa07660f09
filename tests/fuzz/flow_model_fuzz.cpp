// Loads arbitrary bytes as a model file of general tensors, in 32, 16 or 8 bits, and, where they pass for one
// and what they ask for is small, runs it. The checksum is not looked at, or it would stop nearly every
// mutation.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "hewn/core/error.h"
#include "hewn/flow/model_file.h"
#include "hewn/flow/network.h"
#include "small_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const hewn::flow::Graph graph =
        hewn::flow::parse_flow_model({reinterpret_cast<const char*>(data), size}, "fuzz", false).graph;
    std::vector<hewn::flow::Tensor> inputs;
    if (!fuzz::make_inputs(graph, inputs) || !fuzz::stays_small(graph, inputs)) return 0;
    hewn::flow::Network network(graph);
    network.run(inputs);
  } catch (const hewn::Error&) {
  }
  return 0;
}

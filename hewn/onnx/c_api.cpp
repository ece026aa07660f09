#include "hewn/onnx/c_api.h"

#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include "hewn/core/c_guard.h"
#include "hewn/core/error.h"
#include "hewn/onnx/open.h"

using hewn::Error;
using hewn::require_pointer;
using hewn::str;
namespace flow = hewn::flow;

struct hewn_network {
  explicit hewn_network(flow::Network other) : network(std::move(other)) {}

  flow::Network network;
  std::vector<flow::Tensor> inputs;  // in the caller's memory
  std::vector<bool> given;
  const std::vector<flow::Tensor>* outputs = nullptr;  // of the last run
};

namespace {

/// Shapes beyond this are mistakes, or memory that was never written.
constexpr int32_t kMostRank = 64;
constexpr int32_t kMostThreads = 1024;  // OpenMP ends the program where it cannot start them

static_assert(static_cast<int>(flow::Type::kFloat) == HEWN_FLOAT);
static_assert(static_cast<int>(flow::Type::kInt) == HEWN_INT64);
static_assert(static_cast<int>(flow::Type::kBool) == HEWN_BOOL);

int32_t code_of(const std::exception* error) noexcept {
  if (dynamic_cast<const hewn::FormatError*>(error) != nullptr) return HEWN_BAD_FILE;
  if (dynamic_cast<const Error*>(error) != nullptr) return HEWN_BAD_CALL;
  if (dynamic_cast<const std::bad_alloc*>(error) != nullptr) return HEWN_NO_MEMORY;
  return HEWN_FAILED;
}

template <class Body>
int32_t guard(const Body& body) noexcept {
  return hewn::guard_c(
      [&] {
        body();
        return int32_t{HEWN_OK};
      },
      code_of);
}

void describe(const flow::Spec& spec, const std::string& name, const void* data, hewn_tensor& out) {
  out.name = name.c_str();
  out.type = static_cast<int32_t>(spec.type);
  out.rank = static_cast<int32_t>(spec.dims.size());
  out.dims = spec.dims.data();
  out.data = data;
}

template <class Items>
size_t checked_index(const char* function, int64_t i, const Items& items) {
  if (i >= 0 && i < static_cast<int64_t>(items.size())) return static_cast<size_t>(i);
  throw Error(str(function, ": i: expected 0 to below ", items.size(), ", got ", i));
}

/// The network's input that a tensor is for.
size_t place_of(const flow::Graph& graph, const hewn_tensor& tensor, size_t number) {
  if (tensor.name == nullptr) return number;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    if (graph.name(graph.inputs[i].value) == tensor.name) return i;
  }
  throw Error(str("hewn_network_run: the network has no input \"", tensor.name, "\""));
}

void check_tensor(const hewn_tensor& tensor, const std::string& name) {
  const auto bad = [&](const std::string& what) {
    return Error(str("hewn_network_run: input ", name, ": ", what));
  };
  if (tensor.type < HEWN_FLOAT || tensor.type > HEWN_BOOL) {
    throw bad(str("type: expected HEWN_FLOAT, HEWN_INT64 or HEWN_BOOL, got ", tensor.type));
  }
  if (tensor.rank < 0 || tensor.rank > kMostRank) {
    throw bad(str("rank: expected 0 to ", kMostRank, ", got ", tensor.rank));
  }
  if (tensor.rank > 0 && tensor.dims == nullptr) throw bad("dims is null");
}

/// Lets `held` be what the caller gave.
void point_at(const hewn_tensor& given, const std::string& name, flow::Tensor& held) {
  check_tensor(given, name);
  const auto type = static_cast<flow::Type>(given.type);
  try {
    held.point_at(type, {given.dims, static_cast<size_t>(given.rank)}, const_cast<void*>(given.data));
  } catch (const Error& problem) {
    throw Error(str("hewn_network_run: input ", name, ": ", problem.what()));
  }
  if (held.elements() == 0) return;
  if (given.data == nullptr) throw Error(str("hewn_network_run: input ", name, ": data is null"));
  if (type != flow::Type::kBool) return;
  const auto* bytes = static_cast<const uint8_t*>(given.data);
  if (std::any_of(bytes, bytes + held.elements(), [](uint8_t byte) { return byte > 1; })) {
    throw Error(str("hewn_network_run: input ", name, ": a bool is neither 0 nor 1"));
  }
}

void run(hewn_network& self, const hewn_tensor* inputs, size_t count) {
  const flow::Graph& graph = self.network.graph();
  if (count != graph.inputs.size()) {
    throw Error(
        str("hewn_network_run: the network has ", graph.inputs.size(), " inputs, but ", count, " came"));
  }
  self.inputs.resize(count);
  self.given.assign(count, false);
  for (size_t i = 0; i < count; ++i) {
    const size_t place = place_of(graph, inputs[i], i);
    const std::string& name = graph.name(graph.inputs[place].value);
    if (self.given[place]) throw Error(str("hewn_network_run: input ", name, " came twice"));
    self.given[place] = true;
    point_at(inputs[i], name, self.inputs[place]);
  }
  self.outputs = &self.network.run_in_place(self.inputs);
}

}  // namespace

int32_t hewn_network_load(const char* path, hewn_network** network) {
  return guard([&] {
    require_pointer(network, "hewn_network_load", "network");
    *network = nullptr;
    require_pointer(path, "hewn_network_load", "path");
    *network = new hewn_network(hewn::onnx::open_network(path));
  });
}

int32_t hewn_network_copy(const hewn_network* original, hewn_network** network) {
  return guard([&] {
    require_pointer(network, "hewn_network_copy", "network");
    *network = nullptr;
    require_pointer(original, "hewn_network_copy", "original");
    *network = new hewn_network(original->network);
  });
}

void hewn_network_free(hewn_network* network) { delete network; }

int32_t hewn_network_set_threads(hewn_network* network, int32_t threads) {
  return guard([&] {
    require_pointer(network, "hewn_network_set_threads", "network");
    if (threads < 0 || threads > kMostThreads) {
      throw Error(str("hewn_network_set_threads: threads: expected 0 to ", kMostThreads, ", got ", threads));
    }
    network->network.set_threads(threads);
  });
}

int32_t hewn_network_input_count(const hewn_network* network, int64_t* count) {
  return guard([&] {
    require_pointer(network, "hewn_network_input_count", "network");
    require_pointer(count, "hewn_network_input_count", "count");
    *count = static_cast<int64_t>(network->network.graph().inputs.size());
  });
}

int32_t hewn_network_output_count(const hewn_network* network, int64_t* count) {
  return guard([&] {
    require_pointer(network, "hewn_network_output_count", "network");
    require_pointer(count, "hewn_network_output_count", "count");
    *count = static_cast<int64_t>(network->network.graph().outputs.size());
  });
}

int32_t hewn_network_input(const hewn_network* network, int64_t i, hewn_tensor* input) {
  return guard([&] {
    require_pointer(network, "hewn_network_input", "network");
    require_pointer(input, "hewn_network_input", "input");
    const flow::Graph& graph = network->network.graph();
    const flow::Port& port = graph.inputs[checked_index("hewn_network_input", i, graph.inputs)];
    describe(port.spec, graph.name(port.value), nullptr, *input);
  });
}

int32_t hewn_network_output(const hewn_network* network, int64_t i, hewn_tensor* output) {
  return guard([&] {
    require_pointer(network, "hewn_network_output", "network");
    require_pointer(output, "hewn_network_output", "output");
    const flow::Graph& graph = network->network.graph();
    const flow::Port& port = graph.outputs[checked_index("hewn_network_output", i, graph.outputs)];
    describe(port.spec, graph.name(port.value), nullptr, *output);
  });
}

int32_t hewn_network_run(hewn_network* network, const hewn_tensor* inputs, int64_t count) {
  return guard([&] {
    require_pointer(network, "hewn_network_run", "network");
    network->outputs = nullptr;
    if (count < 0) throw Error(str("hewn_network_run: count: expected 0 or more, got ", count));
    if (count > 0) require_pointer(inputs, "hewn_network_run", "inputs");
    run(*network, inputs, static_cast<size_t>(count));
  });
}

int32_t hewn_network_result(const hewn_network* network, int64_t i, hewn_tensor* result) {
  return guard([&] {
    require_pointer(network, "hewn_network_result", "network");
    require_pointer(result, "hewn_network_result", "result");
    if (network->outputs == nullptr)
      throw Error("hewn_network_result: the network has not run, or the last run failed");
    const size_t at = checked_index("hewn_network_result", i, *network->outputs);
    const flow::Graph& graph = network->network.graph();
    const flow::Tensor& output = (*network->outputs)[at];
    describe(output.spec(), graph.name(graph.outputs[at].value), output.bytes(), *result);
  });
}

#pragma once

#include <map>
#include <string>

#include "cli/command.h"
#include "hewn/core/json.h"
#include "hewn/flow/graph.h"
#include "hewn/flow/network.h"

namespace hewn::cli {

struct BenchFields;
struct PredictFields;

/// A network of general tensors: an ONNX file, or a model.hewn that was made of one.
struct NetworkSource {
  flow::Graph graph;
  int64_t block = 0;  // of the zeros to leave out; 0: of any size
  std::map<std::string, std::string> metadata = {};
};

/// Whether a path is one. Throws nothing.
bool is_network(const std::string& path);
/// Whether it is one that says how raw data become its inputs, so that it can be used as any model.hewn.
bool answers_samples(const std::string& path);
NetworkSource open_network(const std::string& path);

/// What it takes and gives, and how each of its weights is multiplied; `about` is added to the JSON.
void print_network(const flow::Graph& graph, int64_t block, const std::string& file, bool json,
                   const Json& about = nullptr);
/// The layers with weights of a simplified graph: how each is multiplied.
Json weights_to_json(const flow::Graph& simple, int64_t block);
void print_weights(const flow::Graph& simple, int64_t block);
int run_inspect_network(const std::string& path, bool json);

/// Arrays in, arrays out.
int run_predict_network(const PredictFields& fields, const Given& given);

/// Times it on this machine.
int run_bench_network(const BenchFields& fields, const Given& given);
/// How long single calls of a model.hewn of version 1 or 2 take.
int run_latency_model(const BenchFields& fields, const Given& given);

}  // namespace hewn::cli

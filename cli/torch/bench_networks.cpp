#include <filesystem>
#include <memory>

#include "cli/torch/bench.h"
#include "hewn/core/error.h"
#include "hewn/core/options.h"
#include "hewn/deploy/export.h"
#include "hewn/deploy/random_network.h"
#include "hewn/kernels/tile.h"
#include "hewn/measure/network.h"
#include "hewn/run/options.h"
#include "hewn/runtime/model.h"
#include "hewn/tensor/device.h"
#include "hewn/train/network.h"

namespace hewn::cli {
namespace {

measure::NetworkOptions network_options(const Values& values, const BenchFields& fields) {
  const int64_t batch = number(values, "batch");
  if (batch < 1) throw Error(str("batch: expected at least 1, got ", batch));
  return {batch, fields.rounds, static_cast<uint64_t>(fields.seed)};
}

Json measure_network(const std::string& kind, const runtime::ModelData& data, int64_t bytes, int64_t threads,
                     const measure::NetworkOptions& options, const measure::MoreWays& more) {
  const int64_t used = tensor::set_threads(threads);
  const measure::NetworkFacts facts = measure::facts_of(data);
  const measure::Comparison comparison = measure::compare(data, options, more);
  Json out = {{"kind", kind}, {"model", data.model}, {"batch", options.batch}, {"threads", used}};
  if (facts.block) out["block"] = to_string(*facts.block);
  if (facts.sparsity) out["sparsity"] = *facts.sparsity;
  out["file_bytes"] = bytes;
  out["dense_bytes"] = facts.dense_bytes;
  out["clock"] = measure::to_string(measure::clock_for(used));
  out["instructions"] = kernels::machine().name;
  out.update(measure::to_json(comparison));
  return out;
}

Job model_job(const Values& values, const BenchFields& fields) {
  const bool clicks = nn::find_model(values.at("model")).usual.takes == nn::Takes::kClicks;
  run::Options options = run::usual_options(clicks ? data::Kind::kClicks : data::Kind::kImages);
  options.model = values.at("model");
  if (values.at("widths") != "auto") parse_value("widths", values.at("widths"), options.widths);
  options.width = number(values, "width");
  options.prune.block = parse_block(values.at("block"));
  parse_value("sparsity", values.at("sparsity"), options.prune.sparsity);
  options.prune.min_blocks = number(values, "min-blocks");
  options.seed = fields.seed;
  const nn::Signature signature = train::signature_for(options.model, values.at("data"));
  deploy::network_plan(options, signature);
  const measure::NetworkOptions how = network_options(values, fields);
  const int64_t threads = thread_count(values);
  return [=] {
    const deploy::RandomNetwork network = deploy::random_network(options, signature);
    Json out = measure_network("model", network.data, deploy::file_bytes(network.data), threads, how,
                               deploy::model_ways(network));
    // What was asked for: a plan may leave all layers dense.
    out["block"] = to_string(options.prune.block);
    out["sparsity"] = options.prune.sparsity;
    return out;
  };
}

Job file_job(const Values& values, const BenchFields& fields) {
  const std::filesystem::path path = values.at("file");
  const measure::NetworkOptions how = network_options(values, fields);
  const int64_t threads = thread_count(values);
  runtime::Model::load(path);  // says what cannot be run
  const auto data = std::make_shared<const runtime::ModelData>(runtime::read_model(path));
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(path));
  return [=] { return measure_network("file", *data, bytes, threads, how, {}); };
}

}  // namespace

std::vector<KindJobs> network_kinds() {
  const std::vector<std::string> columns = {"model", "batch", "file_bytes", "dense_bytes"};
  return {{"model", model_job, columns}, {"file", file_job, columns}};
}

}  // namespace hewn::cli

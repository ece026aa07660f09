#include <filesystem>
#include <memory>

#include "cli/torch/bench.h"
#include "hewn/core/error.h"
#include "hewn/core/options.h"
#include "hewn/deploy/export.h"
#include "hewn/deploy/gpu/compare.h"
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

/// What is said of a network wherever it runs.
Json about(const runtime::ModelData& data, int64_t bytes, const measure::NetworkOptions& options) {
  const measure::NetworkFacts facts = measure::facts_of(data);
  Json out = {{"model", data.model},
              {"batch", options.batch},
              {"file_bytes", bytes},
              {"dense_bytes", facts.dense_bytes}};
  if (facts.block) out["block"] = to_string(*facts.block);
  if (facts.sparsity) out["sparsity"] = *facts.sparsity;
  return out;
}

Json measure_on_cpu(const runtime::ModelData& data, int64_t threads, const measure::NetworkOptions& options,
                    const measure::MoreWays& more) {
  const int64_t used = tensor::set_threads(threads);
  Json out = {{"threads", used},
              {"clock", measure::to_string(measure::clock_for(used))},
              {"instructions", kernels::machine().name}};
  out.update(measure::to_json(measure::compare(data, options, more)));
  return out;
}

Json measure_on_gpu(const runtime::ModelData& data, const std::string& device,
                    const measure::NetworkOptions& options, const std::vector<deploy::GpuWay>& more) {
  const auto found = deploy::compare_on_gpu(data, options, tensor::find_device(device), more);
  Json out = {{"device", device}, {"precision", "bf16"}, {"clock", "CUDA events"}};
  out.update(measure::to_json(found.times));
  out["on_kept_blocks"] = found.on_kept_blocks;
  if (found.on_kept_blocks.empty()) {
    out["speedup"] = out["fraction_of_ideal"] = nullptr;
    out["withheld"] = "by rule no layer of these blocks and density runs on kept blocks on this device";
  }
  return out;
}

bool is_cpu(const Values& values) { return values.at("device") == "cpu"; }

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
  if (!is_cpu(values)) tensor::find_device(values.at("device"));
  return [=] {
    const deploy::RandomNetwork network = deploy::random_network(options, signature);
    Json out = about(network.data, deploy::file_bytes(network.data), how);
    out["kind"] = "model";
    const std::string& device = values.at("device");
    out.update(is_cpu(values) ? measure_on_cpu(network.data, threads, how, deploy::model_ways(network))
                              : measure_on_gpu(network.data, device, how,
                                               {deploy::plain_way(network, tensor::find_device(device))}));
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
  if (!is_cpu(values)) tensor::find_device(values.at("device"));
  return [=] {
    Json out = about(*data, bytes, how);
    out["kind"] = "file";
    out.update(is_cpu(values) ? measure_on_cpu(*data, threads, how, {})
                              : measure_on_gpu(*data, values.at("device"), how, {}));
    return out;
  };
}

}  // namespace

std::vector<KindJobs> network_kinds() {
  const std::vector<std::string> columns = {"model", "batch", "file_bytes", "dense_bytes"};
  return {{"model", model_job, columns}, {"file", file_job, columns}};
}

}  // namespace hewn::cli

#include "hewn/run/summary.h"

#include <limits>

#include "hewn/core/error.h"
#include "hewn/core/json_file.h"
#include "hewn/run/fields.h"

namespace hewn::run {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

Metrics metrics_in(const Fields& fields, const char* key) {
  try {
    return metrics_from(fields.at(key));
  } catch (const Json::exception&) {
    fields.reject(key, "is of another kind");
  }
}

std::optional<double> optional_number(const Fields& fields, const char* key) {
  return fields.has(key) ? std::optional(fields.number(key)) : std::nullopt;
}

std::optional<int64_t> optional_count(const Fields& fields, const char* key) {
  return fields.has(key) ? std::optional(fields.whole(key, 0, kMost)) : std::nullopt;
}

void take_size(const Fields& fields, Summary& s) {
  s.realised_sparsity = fields.number("realised_sparsity");
  s.layers_pruned = fields.whole("layers_pruned", 0, kMost);
  s.blocks = fields.whole("blocks", 0, kMost);
  s.kept_blocks = fields.whole("kept_blocks", 0, s.blocks);
  s.bytes_dense = fields.whole("bytes_dense", 0, kMost);
  s.bytes_sparse = fields.whole("bytes_sparse", 0, kMost);
  s.products_dense = optional_count(fields, "products_dense");
  s.products_sparse = optional_count(fields, "products_sparse");
  s.expected_ms_dense = optional_number(fields, "expected_ms_dense");
  s.expected_ms_sparse = optional_number(fields, "expected_ms_sparse");
}

/// Whoever compares them looks for the same names.
void check_same_metrics(const Fields& fields, const Summary& s) {
  for (const auto& [name, value] : s.metrics) {
    if (s.dense_metrics && !s.dense_metrics->contains(name))
      fields.reject("dense_metrics", str("has no ", name, ", unlike \"metrics\""));
  }
}

}  // namespace

Metrics metrics_from(const Json& json) {
  Metrics out;
  for (const auto& [name, value] : json.get_ref<const Json::object_t&>()) {
    out[name] = value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
  }
  return out;
}

Json to_json(const Summary& s) {
  Json out = {{"method", s.method},
              {"data", s.data},
              {"model", s.model},
              {"block", s.block},
              {"sparsity", s.sparsity},
              {"seed", s.seed},
              {"epochs", s.epochs},
              {"steps", s.steps},
              {"metrics", s.metrics},
              {"best_test_loss", s.best_test_loss ? Json(*s.best_test_loss) : Json(nullptr)},
              {"realised_sparsity", s.realised_sparsity},
              {"layers_pruned", s.layers_pruned},
              {"kept_blocks", s.kept_blocks},
              {"blocks", s.blocks},
              {"bytes_dense", s.bytes_dense},
              {"bytes_sparse", s.bytes_sparse}};
  if (s.products_dense) out["products_dense"] = *s.products_dense;
  if (s.products_sparse) out["products_sparse"] = *s.products_sparse;
  if (s.expected_ms_dense) out["expected_ms_dense"] = *s.expected_ms_dense;
  if (s.expected_ms_sparse) out["expected_ms_sparse"] = *s.expected_ms_sparse;
  out["seconds"] = s.seconds;
  if (s.eval_on) out["eval_on"] = *s.eval_on;
  if (s.dense_metrics) out["dense_metrics"] = *s.dense_metrics;
  if (s.dense_seconds) out["dense_seconds"] = *s.dense_seconds;
  if (s.sparse_execution) out["sparse_execution"] = *s.sparse_execution;
  return out;
}

void write_summary(const std::filesystem::path& path, const Summary& summary) {
  write_json(path, to_json(summary));
}

Summary read_summary(const std::filesystem::path& path) { return summary_in(read_json(path), path.string()); }

Summary summary_in(const Json& json, const std::string& where) {
  const Fields fields(json, where, "a run's summary");
  Summary s;
  s.method = fields.text("method");
  s.data = fields.text("data");
  s.model = fields.text("model");
  s.block = fields.text("block");
  s.sparsity = fields.number("sparsity");
  s.seed = fields.whole("seed");
  s.epochs = fields.whole("epochs", 0, kMost);
  s.steps = fields.whole("steps", 0, kMost);
  s.metrics = metrics_in(fields, "metrics");
  if (fields.has("eval_on")) s.eval_on = fields.text("eval_on");
  s.best_test_loss = optional_number(fields, "best_test_loss");
  take_size(fields, s);
  s.seconds = fields.number("seconds");
  if (fields.has("dense_metrics")) s.dense_metrics = metrics_in(fields, "dense_metrics");
  s.dense_seconds = optional_number(fields, "dense_seconds");
  if (fields.has("sparse_execution")) s.sparse_execution = fields.text("sparse_execution");
  check_same_metrics(fields, s);
  return s;
}

}  // namespace hewn::run

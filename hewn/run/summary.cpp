#include "hewn/run/summary.h"

#include <limits>

#include "hewn/core/error.h"
#include "hewn/core/json_file.h"

namespace hewn::run {
namespace {

/// Takes one key after the other out of a file's JSON, and knows which one did not fit.
class Fields {
 public:
  explicit Fields(const Json& json) : json_(json) {}

  template <class T>
  void take(const char* key, T& value) {
    current_ = key;
    read(json_.at(key), value);
  }
  /// Keys that only some runs have.
  template <class T>
  void take(const char* key, std::optional<T>& value) {
    current_ = key;
    const auto found = json_.find(key);
    if (found == json_.end() || found->is_null()) return;
    read(*found, value.emplace());
  }
  const char* current() const { return current_; }

 private:
  template <class T>
  static void read(const Json& json, T& value) {
    value = json.get<T>();
  }
  static void read(const Json& json, Metrics& value) { value = metrics_from(json); }

  const Json& json_;
  const char* current_ = "";
};

void take_all(Fields& fields, Summary& s) {
  fields.take("method", s.method);
  fields.take("data", s.data);
  fields.take("model", s.model);
  fields.take("block", s.block);
  fields.take("sparsity", s.sparsity);
  fields.take("seed", s.seed);
  fields.take("epochs", s.epochs);
  fields.take("steps", s.steps);
  fields.take("metrics", s.metrics);
  fields.take("eval_on", s.eval_on);
  fields.take("best_test_loss", s.best_test_loss);
  fields.take("realised_sparsity", s.realised_sparsity);
  fields.take("layers_pruned", s.layers_pruned);
  fields.take("kept_blocks", s.kept_blocks);
  fields.take("blocks", s.blocks);
  fields.take("bytes_dense", s.bytes_dense);
  fields.take("bytes_sparse", s.bytes_sparse);
  fields.take("products_dense", s.products_dense);
  fields.take("products_sparse", s.products_sparse);
  fields.take("expected_ms_dense", s.expected_ms_dense);
  fields.take("expected_ms_sparse", s.expected_ms_sparse);
  fields.take("seconds", s.seconds);
  fields.take("dense_metrics", s.dense_metrics);
  fields.take("dense_seconds", s.dense_seconds);
  fields.take("sparse_execution", s.sparse_execution);
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

Summary read_summary(const std::filesystem::path& path) {
  const Json json = read_json(path);
  if (!json.is_object()) throw FormatError(path.string(), "is not a run's summary");
  Summary out;
  Fields fields(json);
  try {
    take_all(fields, out);
  } catch (const Json::exception&) {
    throw FormatError(path.string(),
                      str("is not a run's summary: \"", fields.current(), "\" ",
                          json.contains(fields.current()) ? "is of another kind" : "is missing"));
  }
  return out;
}

}  // namespace hewn::run

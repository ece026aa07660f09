#include "hewn/deploy/predict.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "hewn/core/error.h"
#include "hewn/data/source.h"
#include "hewn/data/tables/encoding.h"
#include "hewn/deploy/export.h"

namespace hewn::deploy {
namespace {

/// Vocabularies are compared once the data are open: before, most do not know them.
void check_values(const std::vector<int64_t>& expected, const data::DataInfo& info, const std::string& path) {
  if (expected.empty() == (info.kind == data::Kind::kClicks)) {
    throw Error(hewn::str(path, ": takes ", expected.empty() ? "images or rows of a table" : "click logs",
                          ", ", info.name, expected.empty() ? " is a click log" : " is none"));
  }
  for (size_t i = 0; i < info.vocabularies.size(); ++i) {
    if (info.vocabularies[i] == expected[i]) continue;
    throw Error(hewn::str(path, ": its field ", i, " takes ", expected[i], " values, that of ", info.name,
                          " ", info.vocabularies[i], "; it was trained on other data"));
  }
}

void check(const OpenModel& model, const data::DataInfo& info, const std::string& path) {
  const auto expected = model.input_shape();
  const runtime::Shape shape{expected[0], expected[1], expected[2]};
  // Of some data the shape is known only once they are open.
  const runtime::Shape given = info.input.empty() ? shape : image_shape(info.input);
  if (given != shape) {
    throw Error(
        hewn::str(path, ": takes inputs of ", to_string(shape), ", ", info.name, " has ", to_string(given)));
  }
  check_values(model.vocabularies(), info, path);
  if (info.classes != 0 && info.classes != model.outputs()) {
    throw Error(hewn::str(path, ": has ", model.outputs(), " outputs, ", info.name, " has ", info.classes,
                          " classes"));
  }
}

}  // namespace

int64_t Predictions::class_of(int64_t sample) const {
  const float* row = logits.data() + sample * outputs;
  if (kind == data::Kind::kClicks) return *row > 0 ? 1 : 0;
  return std::max_element(row, row + outputs) - row;
}

double Predictions::score_of(int64_t sample) const {
  const float* row = logits.data() + sample * outputs;
  if (kind == data::Kind::kClicks) return 1 / (1 + std::exp(-static_cast<double>(*row)));
  return probability_of(sample, class_of(sample));
}

double Predictions::probability_of(int64_t sample, int64_t output) const {
  const float* row = logits.data() + sample * outputs;
  const auto most = static_cast<double>(*std::max_element(row, row + outputs));
  double sum = 0;
  for (int64_t i = 0; i < outputs; ++i) sum += std::exp(static_cast<double>(row[i]) - most);
  return std::exp(static_cast<double>(row[output]) - most) / sum;
}

std::vector<int64_t> Predictions::top_of(int64_t sample, int64_t k) const {
  const float* row = logits.data() + sample * outputs;
  std::vector<int64_t> order(static_cast<size_t>(outputs));
  std::iota(order.begin(), order.end(), 0);
  // Numbers that are none come last, and do not confuse the sort.
  const auto larger = [row](int64_t a, int64_t b) {
    return std::isnan(row[b]) ? !std::isnan(row[a]) : row[a] > row[b];
  };
  std::stable_sort(order.begin(), order.end(), larger);
  order.resize(static_cast<size_t>(std::min(k, outputs)));
  return order;
}

void use_target_unit(Predictions& predictions, const OpenModel& model) {
  if (!data::is_table_rule(model.preprocessing()) || !model.classes().empty()) return;
  const data::TableEncoding encoding =
      data::table_encoding({{}, model.preprocessing(), model.arrays()}, "the model");
  predictions.kind = data::Kind::kNumbers;
  for (float& value : predictions.logits) {
    value = static_cast<float>(encoding.target_mean + encoding.target_scale * static_cast<double>(value));
  }
}

Predictions predict(const std::filesystem::path& path, const PredictOptions& options) {
  if (options.batch < 1) throw Error(hewn::str("batch: expected at least 1, got ", options.batch));
  OpenModel model = open_model(path, options.threads);
  std::string data_path;
  check(model, data::find_source(options.data, &data_path).info, path.string());
  data::DataOptions data_options;
  data_options.batch = options.batch;
  data_options.clicks = options.clicks;
  data_options.folders = options.folders;
  data_options.tables = options.tables;
  data_options.preprocessing = {model.classes(), model.preprocessing(), model.arrays()};
  const auto source = data::open_source(options.data, data_options);
  return predict(model, path.string(), *source, options.limit);
}

Predictions predict(OpenModel& model, const std::string& name, data::Source& source, int64_t limit) {
  if (limit < 0) throw Error(hewn::str("limit: expected 0 or more, got ", limit));
  check(model, source.info(), name);
  Predictions out;
  out.kind = source.info().kind;
  out.outputs = model.outputs();
  out.classes = model.classes();
  const auto meter = train::make_task(source.info().kind, 0, source.info().target_scale)->meter();
  for (int64_t i = 0; i < source.test_batches(); ++i) {
    const data::Batch batch = source.test_batch(i);
    const int64_t left = limit > 0 ? limit - out.samples : batch.input.size(0);
    const int64_t count = std::min(left, batch.input.size(0));
    if (count <= 0) break;
    const at::Tensor input = batch.input.to(at::kFloat).contiguous();
    const size_t at = out.logits.size();
    out.logits.resize(at + static_cast<size_t>(count * out.outputs));
    const auto begin = std::chrono::steady_clock::now();
    model.run(input.data_ptr<float>(), count, out.logits.data() + at);
    out.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    // A copy: meters may keep it, and the logits move when they grow.
    meter->add(at::from_blob(out.logits.data() + at, {count, out.outputs}, at::kFloat).clone(),
               batch.target.narrow(0, 0, count));
    out.samples += count;
  }
  if (out.samples == 0) throw Error(hewn::str(source.info().name, ": has no test samples"));
  out.metrics = meter->result();
  use_target_unit(out, model);
  return out;
}

}  // namespace hewn::deploy

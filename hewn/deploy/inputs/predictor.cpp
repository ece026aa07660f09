#include "hewn/deploy/inputs/predictor.h"

#include <algorithm>
#include <chrono>

#include "hewn/core/error.h"

namespace hewn::deploy {

Predictor::Predictor(OpenModel& model, int64_t batch, int64_t limit)
    : model_(model), batch_(batch), limit_(limit) {
  if (batch < 1) throw Error(hewn::str("batch: expected at least 1, got ", batch));
  if (limit < 0) throw Error(hewn::str("limit: expected 0 or more, got ", limit));
  out_.kind = model.vocabularies().empty() ? data::Kind::kImages : data::Kind::kClicks;
  out_.outputs = model.outputs();
  out_.classes = model.classes();
}

bool Predictor::add(const float* values, int64_t count, const std::vector<std::string>& files) {
  if (limit_ > 0) count = std::min(count, limit_ - out_.samples);
  const int64_t before = out_.samples;
  out_.samples += count;
  out_.logits.resize(static_cast<size_t>(out_.samples * out_.outputs));
  const auto begin = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < count; i += batch_) {
    model_.run(values + i * model_.inputs(), std::min(batch_, count - i),
               out_.logits.data() + (before + i) * out_.outputs);
  }
  out_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!files.empty()) {
    out_.files.resize(static_cast<size_t>(before));  // those before have no names of their own
    out_.files.insert(out_.files.end(), files.begin(), files.begin() + count);
  } else if (!out_.files.empty()) {
    out_.files.resize(static_cast<size_t>(out_.samples));
  }
  return wants_more();
}

Predictions Predictor::finish() {
  use_target_unit(out_, model_);
  return std::move(out_);
}

}  // namespace hewn::deploy

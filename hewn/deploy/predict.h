#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hewn/data/clicks/options.h"
#include "hewn/data/folders/options.h"
#include "hewn/data/tables/options.h"
#include "hewn/deploy/open_model.h"
#include "hewn/train/tasks/task.h"

namespace hewn::deploy {

struct PredictOptions {
  std::string data;                // NAME or NAME:PATH
  int64_t batch = 256;             // samples at a time
  int64_t threads = 0;             // 0: all cores
  int64_t limit = 0;               // samples of the test set; 0: all
  data::ClickOptions clicks = {};  // as in training
  data::FolderOptions folders = {};
  data::TableOptions tables = {};
};

struct Predictions {
  data::Kind kind = data::Kind::kImages;
  int64_t samples = 0;
  int64_t outputs = 0;
  std::vector<float> logits;         // samples x outputs; of regression the numbers themselves
  std::vector<std::string> classes;  // their names, where the model has them
  std::vector<std::string> files;    // that samples come from, where they are images in files; else empty
  run::Metrics metrics;              // none where nothing says what would have been right
  double seconds = 0;                // in the runtime, without reading the data

  /// Whether class_of and score_of mean something: not for one output that is a number.
  bool classifies() const { return outputs > 1 || kind == data::Kind::kClicks; }
  /// Images and classes: the output that is largest for a sample, and its probability. Clicks: 1 where a
  /// click is likelier than none, else 0, and the probability of a click.
  int64_t class_of(int64_t sample) const;
  double score_of(int64_t sample) const;
  /// Of several outputs: the k largest, the largest first, and the probability of one.
  std::vector<int64_t> top_of(int64_t sample, int64_t k) const;
  double probability_of(int64_t sample, int64_t output) const;
};

/// Numbers that a model was trained to predict come out of it in standard deviations from their mean; here
/// they get the target's own unit.
void use_target_unit(Predictions& predictions, const OpenModel& model);

/// Runs the test set of a data source through what open_model opens. Throws Error where the data does not fit
/// the model.
Predictions predict(const std::filesystem::path& model, const PredictOptions& options);

/// The same for a source that is open. `name` stands for the model in errors.
Predictions predict(OpenModel& model, const std::string& name, data::Source& source, int64_t limit);

}  // namespace hewn::deploy

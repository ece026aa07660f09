#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hewn/core/options.h"
#include "hewn/data/clicks/options.h"
#include "hewn/data/folders/options.h"
#include "hewn/data/kind.h"
#include "hewn/data/tables/options.h"
#include "hewn/data/text/options.h"
#include "hewn/pruner_options.h"

namespace hewn::run {

/// Everything that decides what a training run does. Fields without a value are chosen by the program; a run
/// folder's config.json holds the choices.
struct Options {
  // What is trained.
  std::string data = "fashion-mnist";
  std::string model = "mlp";
  std::vector<int64_t> widths = {1024, 1024};
  int64_t width = 64;
  int64_t embedding = 10;
  std::string init;
  std::string init_skip;
  bool keep_support = false;
  std::string stem = "auto";
  std::optional<int64_t> depth;
  std::optional<int64_t> patch;
  data::ClickOptions clicks;
  data::FolderOptions folders;
  data::TableOptions tables;
  data::TextOptions text;
  PrunerOptions prune;    // how it is pruned; its steps, kind of data and optimiser are filled in for a run
  std::string costs;      // file that budget ms counts by: run/costs.h
  std::string cost_text;  // what it said when it was read; a run keeps that
  // How long and how fast.
  int64_t epochs = 10;
  int64_t steps = 0;
  int64_t batch = 256;
  int64_t accumulate = 1;
  std::string precision = "fp32";
  double ema = 0;
  std::string optimiser = "sgd";
  std::optional<double> lr;
  std::string lr_schedule = "cosine";
  double lr_end = 0;
  double warmup = 0.05;
  double momentum = 0.9;
  bool nesterov = true;
  double weight_decay = 5e-4;
  bool decay_all = false;
  double label_smoothing = 0;
  std::string teacher;
  double teacher_share = 0.5;
  std::optional<double> temperature;
  bool augment = true;
  // Where and with what.
  int64_t seed = 0;
  std::string device = "cpu";
  int64_t threads = 0;
  std::string out;
  bool compare_dense = false;
  bool cudnn_benchmark = false;
  bool cuda_graphs = true;
  bool sync_batch_norm = false;
  // What is written down.
  std::string eval_on = "test";
  int64_t eval_every = 1;
  int64_t log_every = 50;
  int64_t checkpoint_every = 0;
  int64_t keep_checkpoints = 3;
};

/// As a teacher: the dense model that is trained beside the run.
constexpr const char* kSelfDense = "self-dense";

/// Whether the network learns from a teacher. One whose share is 0 says nothing.
bool is_taught(const Options& options);

/// The options that are usual for a kind of data: those above for images; for click logs the paper's network
/// and optimiser; for tables a smaller network, small batches and Adam; for text a small transformer and
/// AdamW.
Options usual_options(data::Kind kind);
/// The same for a data set, NAME or NAME:PATH.
Options usual_options(const std::string& data);

/// The usual options for the data set that is given, or for the model, with everything else that is given put
/// in.
Options options_from(const std::map<std::string, std::string>& given);

/// The fields with their names and help: the one description behind the command line, config files and
/// config.json.
OptionTable describe(Options& options);

/// Throws Error for values that no training can have, as far as that is seen without data and device.
void check_options(const Options& options);

/// The same options by the keys that they have now.
std::map<std::string, std::string> current_keys(const std::map<std::string, std::string>& given);

/// What its row says of a key; false for one that is not known.
bool only_prunes(const std::string& key);
bool may_change_on_resume(const std::string& key);

/// The part of the data that --eval-on names.
data::Part evaluated_part(const Options& options);

}  // namespace hewn::run

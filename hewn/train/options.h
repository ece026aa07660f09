#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hewn/core/options.h"
#include "hewn/data/clicks/options.h"
#include "hewn/data/folders/options.h"
#include "hewn/data/source.h"
#include "hewn/prune/plan.h"
#include "hewn/prune/recipes.h"

namespace hewn::train {

/// Everything that decides what a training run does. Fields without a value are chosen by the program; a run
/// folder's config.json holds the choices.
struct TrainOptions {
  // What is trained.
  std::string data = "fashion-mnist";
  std::string model = "mlp";
  std::vector<int64_t> widths = {1024, 1024};
  int64_t width = 64;
  int64_t embedding = 10;
  std::string init;
  std::string init_skip;
  data::ClickOptions clicks;
  data::FolderOptions folders;
  // How it is pruned.
  std::optional<std::string> method;
  std::string block = "16";
  double sparsity = 0.9;
  std::optional<std::string> score;
  std::optional<std::string> search;
  std::optional<std::string> schedule;
  std::optional<std::string> drop;
  std::optional<std::string> reset;
  std::optional<double> logit_lr;
  std::optional<bool> attention_clip;
  std::optional<double> alpha;
  std::optional<std::string> ramp;
  std::optional<double> ramp_c;
  std::optional<int64_t> rerank_every;
  std::optional<double> dense_fraction;
  bool no_sparsification = false;
  std::optional<int64_t> cycles;
  std::vector<int64_t> cycle = {1, 1, 1};
  int64_t min_blocks = 100;
  std::string prune_layers = "*";
  // How long and how fast.
  int64_t epochs = 10;
  int64_t steps = 0;
  int64_t batch = 256;
  int64_t accumulate = 1;
  std::string precision = "fp32";
  double ema = 0;
  std::string optimizer = "sgd";
  std::optional<double> lr;
  std::string lr_schedule = "cosine";
  double lr_end = 0;
  double warmup = 0.05;
  double momentum = 0.9;
  bool no_nesterov = false;
  double weight_decay = 5e-4;
  std::optional<double> logit_decay;
  std::optional<std::string> logit_moment;
  bool decay_all = false;
  double label_smoothing = 0;
  std::optional<double> clip_grad;
  bool no_augment = false;
  // Where and with what.
  int64_t seed = 0;
  std::string device = "cpu";
  int64_t threads = 0;
  std::string out;
  bool compare_dense = false;
  bool no_compare = false;
  bool cudnn_benchmark = false;
  bool no_cuda_graphs = false;
  bool sync_batch_norm = false;
  std::optional<std::string> sparse_execution;
  // What is written down.
  std::string eval_on = "test";
  int64_t eval_every = 1;
  int64_t log_every = 50;
  int64_t checkpoint_every = 0;
  int64_t keep_checkpoints = 3;
};

/// The options that are usual for a kind of data: those above for images; for click logs the paper's network
/// and optimiser.
TrainOptions usual_options(data::Kind kind);
/// The same for a data set, NAME or NAME:PATH.
TrainOptions usual_options(const std::string& data);

/// The usual options for the data set that is given, or for the model, with everything else that is given put
/// in.
TrainOptions options_from(const std::map<std::string, std::string>& given);

/// The fields with their names and help: the one description behind the command line, config files and
/// config.json.
OptionTable describe(TrainOptions& options);

/// Throws Error for values that no training can have, as far as that is seen without data and device.
void check_options(const TrainOptions& options);

/// Keys that the dense model does not depend on.
bool only_prunes(const std::string& key);

/// Keys that may change when a run is resumed: they do not decide what is trained.
bool may_change_on_resume(const std::string& key);

/// What the options and the network say about the form of a recipe.
prune::Setting setting_of(const TrainOptions& options, bool normalised);

/// The method's row of the table in the form that fits, with the options' own choices put in.
prune::Recipe resolve_recipe(const TrainOptions& options, bool normalised);

/// Writes the recipe's choices back, so that config.json says them all.
void record_recipe(const prune::Recipe& recipe, TrainOptions& options);

/// The part of the data that --eval-on names.
data::Part evaluated_part(const TrainOptions& options);

prune::PlanOptions plan_options(const TrainOptions& options);

}  // namespace hewn::train

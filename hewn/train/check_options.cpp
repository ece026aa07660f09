#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/data/source.h"
#include "hewn/nn/model.h"
#include "hewn/optimiser.h"
#include "hewn/train/learning_rate.h"
#include "hewn/train/options.h"
#include "hewn/train/precision.h"

namespace hewn::train {
namespace {

void check_numbers(const TrainOptions& o) {
  const auto require = [](bool good, const char* key, const char* expected, auto got) {
    if (!good) throw Error(hewn::str(key, ": expected ", expected, ", got ", got));
  };
  require(o.epochs >= 1, "epochs", "at least 1", o.epochs);
  require(o.steps >= 0, "steps", "0 or more", o.steps);
  require(o.batch >= 1, "batch", "at least 1", o.batch);
  require(o.accumulate >= 1, "accumulate", "at least 1", o.accumulate);
  require(o.log_every >= 1, "log-every", "at least 1", o.log_every);
  require(o.eval_every >= 1, "eval-every", "at least 1", o.eval_every);
  require(o.checkpoint_every >= 0, "checkpoint-every", "0 or more", o.checkpoint_every);
  require(o.keep_checkpoints >= 1, "keep-checkpoints", "at least 1", o.keep_checkpoints);
  require(o.warmup >= 0 && o.warmup < 1, "warmup", "a number in [0, 1)", o.warmup);
  require(o.momentum >= 0 && o.momentum < 1, "momentum", "a number in [0, 1)", o.momentum);
  require(o.weight_decay >= 0, "weight-decay", "0 or more", o.weight_decay);
  require(o.label_smoothing >= 0 && o.label_smoothing < 1, "label-smoothing", "a number in [0, 1)",
          o.label_smoothing);
  require(o.ema >= 0 && o.ema < 1, "ema", "a number in [0, 1)", o.ema);
  require(!o.lr || *o.lr > 0, "lr", "a number above 0", o.lr.value_or(0));
  require(o.lr_end >= 0, "lr-end", "0 or more", o.lr_end);
  require(o.lr_schedule != "exponential" || o.lr_end > 0, "lr-end",
          "a number above 0 with lr-schedule exponential", o.lr_end);
}

}  // namespace

void check_options(const TrainOptions& o) {
  check_numbers(o);
  std::string path;
  data::find_source(o.data, &path);
  nn::find_model(o.model);
  parse_optimiser(o.optimizer);
  parse_rate_shape(o.lr_schedule);
  parse_precision(o.precision);
  evaluated_part(o);
  check(pruner_options(o, 0));
}

}  // namespace hewn::train

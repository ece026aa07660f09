#include "hewn/train/options.h"

#include <algorithm>
#include <array>

#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/data/source.h"
#include "hewn/nn/model.h"
#include "hewn/optimiser.h"

namespace hewn::train {

TrainOptions usual_options(data::Kind kind) {
  TrainOptions o;
  if (kind == data::Kind::kClicks) {
    o.model = "ctr-dnn";
    o.widths = {400, 400, 400};
    o.prune.layers = {"fc1"};
    o.epochs = 4;
    o.batch = 4096;
    o.optimizer = "adam";
    o.lr = 1e-2;
    o.lr_schedule = "exponential";
    o.lr_end = 3e-4;
    o.warmup = 0;
    o.weight_decay = 1e-5;
  }
  return o;
}

TrainOptions usual_options(const std::string& data) {
  std::string path;
  const data::DataInfo& info = data::find_source(data, &path).info;
  TrainOptions o = usual_options(info.kind);
  o.data = data;
  // Its losses mean little alone: they are shown between the dense model's and the lowest possible one.
  o.compare_dense = info.name == "synthetic-ctr";
  return o;
}

TrainOptions options_from(const std::map<std::string, std::string>& given) {
  const auto data = given.find("data");
  const auto model = given.find("model");
  const bool clicks = model != given.end() && nn::find_model(model->second).usual.clicks;
  TrainOptions options = usual_options(data != given.end() ? data->second
                                       : clicks            ? "synthetic-ctr"
                                                           : TrainOptions().data);
  const OptionTable table = describe(options);
  for (const auto& [key, text] : given) table.find(key, "command line").parse(text);
  return options;
}

OptionTable describe(TrainOptions& o) {
  OptionTable table;
  table.add("data", o.data, "data set, NAME or NAME:PATH (see hewn methods)");
  data::describe(o.clicks, table);
  data::describe(o.folders, table);
  table.add("model", o.model, "network (see hewn methods)");
  table.add("widths", o.widths, "hidden widths of mlp and ctr-dnn, with commas between");
  table.add("width", o.width, "channels in the first stage of a resnet");
  table.add("embedding", o.embedding, "numbers per field of a click log");
  table.add("init", o.init, "start from the weights of this .safetensors file");
  table.add("init-skip", o.init_skip, "patterns of tensors that the file need not give, with commas between");
  table.add("method", o.prune.method, "pruning method; auto: sa++ with normalisation layers, sa++r without");
  table.add("block", o.prune.block, "block size, B or RxC");
  table.add("sparsity", o.prune.sparsity, "fraction of blocks to drop, in [0, 1)");
  table.add("score", o.prune.score, "how blocks are ranked, instead of the method's own");
  table.add("search", o.prune.search, "how the support is chosen: top-k or global");
  table.add("schedule", o.prune.schedule, "when phases change, instead of the method's own");
  table.add("drop", o.prune.drop, "weights of dropped blocks: mask (keep) or zero");
  table.add("reset", o.prune.reset, "when optimiser state is cleared: none, decompress or every");
  table.add("logit-lr", o.prune.logit_lr, "learning rate of logits and masks over that of weights");
  table.add("attention-clip", o.prune.attention_clip, "clamp attention to [density, 1/density]");
  table.add("alpha", o.prune.alpha, "exponent of powerprop and attention-power");
  table.add("ramp", o.prune.ramp, "how SPARSIFICATION proceeds: exponential or polynomial");
  table.add("ramp-c", o.prune.ramp_c, "steepness of the ramp; 0 is linear for exponential");
  table.add("rerank-every", o.prune.rerank_every, "steps between selections during SPARSIFICATION");
  table.add("dense-fraction", o.prune.dense_fraction,
            "share of the first dense phase, where not the schedule's own");
  table.add_negated("no-sparsification", o.prune.sparsification,
                    "give the share of SPARSIFICATION phases to sparse and dense");
  table.add("cycles", o.prune.cycles, "how often acdc and sa++ schedules go from dense to sparse");
  table.add("cycle", o.prune.cycle, "parts of a cycle: sparsification, sparse, dense");
  table.add("min-blocks", o.prune.min_blocks, "layers with fewer blocks stay dense");
  table.add("prune-layers", o.prune.layers, "patterns of layer names to prune, with commas between");
  table.add("epochs", o.epochs, "passes over the training data");
  table.add("steps", o.steps, "training steps, instead of epochs");
  table.add("batch", o.batch, "batch size, of all processes together");
  table.add("accumulate", o.accumulate, "parts in which a batch is worked through, to need less memory");
  table.add("precision", o.precision, "numbers in which layers compute: fp32 or bf16");
  table.add("ema", o.ema, "decay of the moving average of weights over the last phase; 0: no average");
  table.add("optimizer", o.optimizer, "sgd, adam or adamw");
  table.add("lr", o.lr, "peak learning rate; auto: 0.1 for sgd, 0.001 for adam");
  table.add("lr-schedule", o.lr_schedule, "cosine, exponential or constant");
  table.add("lr-end", o.lr_end, "last learning rate (exponential needs one)");
  table.add("warmup", o.warmup, "share of the steps with rising learning rate");
  table.add("momentum", o.momentum, "momentum of sgd");
  table.add("no-nesterov", o.no_nesterov, "plain momentum");
  table.add("weight-decay", o.weight_decay, "decay of weights");
  table.add("logit-decay", o.prune.logit_decay,
            "decay of logits and masks; auto: the method's own, else as weights");
  table.add("logit-moment", o.prune.logit_moment,
            "second moment of logits and masks under Adam: own, or shared by a layer");
  table.add("decay-all", o.decay_all, "decay biases and normalisation layers too");
  table.add("label-smoothing", o.label_smoothing, "share of the target given to all classes");
  table.add("clip-grad", o.prune.clip_grad,
            "largest norm of all gradients together; 0: no limit; auto: the method's own");
  table.add("no-augment", o.no_augment, "train without random crops and mirrors");
  table.add("seed", o.seed, "seed of everything random");
  table.add("device", o.device, "cpu, cuda or cuda:N");
  table.add("threads", o.threads, "CPU threads; 0: all cores");
  table.add("out", o.out, "run folder; default: a new one under runs/");
  table.add("compare-dense", o.compare_dense,
            "train the dense model too, with the same settings (synthetic-ctr: always)");
  table.add("no-compare", o.no_compare, "train no dense model beside the pruned one");
  table.add("cudnn-benchmark", o.cudnn_benchmark,
            "let cuDNN time its algorithms: faster, not repeatable bit for bit");
  table.add("sync-batch-norm", o.sync_batch_norm,
            "with several processes: batch-norm over the whole batch, not over each one's share");
  table.add("no-cuda-graphs", o.no_cuda_graphs, "launch every kernel of a step instead of replaying steps");
  table.add(
      "sparse-execution", o.prune.sparse_execution,
      "layers that run on kept blocks only (CPU): on, off or LAYER:DENSITY,...; auto: where it is faster");
  table.add("eval-on", o.eval_on, "held-out part that is evaluated: test or validation");
  table.add("eval-every", o.eval_every, "epochs between evaluations");
  table.add("log-every", o.log_every, "steps between lines of metrics.jsonl");
  table.add("checkpoint-every", o.checkpoint_every, "steps between checkpoints; 0: every epoch");
  table.add("keep-checkpoints", o.keep_checkpoints, "checkpoints kept");
  return table;
}

bool only_prunes(const std::string& key) {
  constexpr std::array<std::string_view, 21> kPruning = {
      "block",          "sparsity",       "score",
      "search",         "drop",           "reset",
      "ramp",           "ramp-c",         "rerank-every",
      "dense-fraction", "cycles",         "cycle",
      "alpha",          "logit-lr",       "logit-decay",
      "logit-moment",   "attention-clip", "no-sparsification",
      "min-blocks",     "prune-layers",   "sparse-execution"};
  return key == "schedule" || std::find(kPruning.begin(), kPruning.end(), key) != kPruning.end();
}

bool may_change_on_resume(const std::string& key) {
  constexpr std::array<std::string_view, 8> kFree = {
      "cache",         "out", "device", "threads", "workers", "checkpoint-every", "keep-checkpoints",
      "no-cuda-graphs"};
  return std::find(kFree.begin(), kFree.end(), key) != kFree.end();
}

PrunerOptions pruner_options(const TrainOptions& o, int64_t steps) {
  PrunerOptions prune = o.prune;
  std::string path;
  prune.clicks = data::find_source(o.data, &path).info.kind == data::Kind::kClicks;
  prune.adam = parse_optimiser(o.optimizer) != kernels::UpdateKind::kSgd;
  prune.steps = steps;
  return prune;
}

prune::Recipe resolve_recipe(const TrainOptions& o, bool normalised) {
  const PrunerOptions prune = pruner_options(o, 0);
  return recipe_of(prune, {.normalised = normalised, .clicks = prune.clicks, .adam = *prune.adam});
}

void record_recipe(const prune::Recipe& recipe, TrainOptions& o) {
  o.prune.method = recipe.name;
  o.prune.score = recipe.score;
  o.prune.search = recipe.search;
  o.prune.schedule = recipe.schedule;
  o.prune.drop = std::string(prune::name_of(recipe.drop));
  o.prune.reset = std::string(prune::name_of(recipe.reset));
  o.prune.logit_lr = recipe.logit_lr;
  o.prune.logit_decay = recipe.logit_decay;
  o.prune.logit_moment = recipe.shared_moment ? "shared" : "own";
  o.prune.clip_grad = recipe.clip_grad;
  o.prune.attention_clip = recipe.score_options.clip;
  o.prune.alpha = recipe.score_options.alpha;
  o.prune.ramp = std::string(prune::name_of(recipe.ramp));
  o.prune.ramp_c = recipe.ramp_c;
  o.prune.rerank_every = recipe.rerank_every;
  o.prune.dense_fraction = recipe.schedule_options.dense_fraction;
  o.prune.cycles = recipe.schedule_options.cycles;
}

data::Part evaluated_part(const TrainOptions& o) {
  if (o.eval_on == "test") return data::Part::kTest;
  if (o.eval_on == "validation") return data::Part::kValidation;
  throw Error(str("eval-on: expected test or validation, got \"", o.eval_on, "\""));
}

}  // namespace hewn::train

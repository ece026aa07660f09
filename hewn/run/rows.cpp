#include "hewn/run/options.h"

// One row per option. Command line, config files, config.json, --help, plans and sweeps follow from it.

namespace hewn::run {
namespace {

constexpr int64_t kMostWidth = 1 << 20;

void describe_network(Options& o, OptionTable& table) {
  table.add("model", o.model, "network (see hewn methods)");
  table.add("widths", o.widths, "hidden widths of mlp and ctr-dnn, with commas between")
      .all_between(1, kMostWidth);
  table.add("width", o.width, "channels in the first stage of a resnet, or of a head of a transformer")
      .between(1, 4096);
  table
      .add("stem", o.stem,
           "first layer of resnet18 and resnet50: small (3x3) or imagenet (7x7, stride 2, pooling); "
           "auto: small up to 64 pixels")
      .one_of({"auto", "small", "imagenet"});
  table.add("depth", o.depth, "blocks of a transformer; auto: 12 of vit-s/16, 2 of char-transformer")
      .between(1, 1024);
  table.add("patch", o.patch, "pixels of a side of a patch of vit-s/16; auto: 16, or 4 up to 64 pixels")
      .between(1, 4096);
  table.add("embedding", o.embedding, "numbers per field of a click log").between(1, 4096);
  table.add("init", o.init, "start from the weights of this .safetensors or .pt file, or of a finished run");
  table.add("init-skip", o.init_skip, "patterns of tensors that the file need not give, with commas between");
  table
      .add("keep-support", o.keep_support,
           "train only the blocks that --init keeps: those it lists, else those of --block that are not zero")
      .only_prunes();
}

void describe_pruning(PrunerOptions& o, OptionTable& table) {
  table.add("method", o.method, "pruning method; auto: sa++r");
  table.add("block", o.block, "block size, B or RxC").only_prunes();
  table.add("sparsity", o.sparsity, "fraction of blocks to drop, in [0, 1)").only_prunes();
  table.add("score", o.score, "how blocks are ranked, instead of the method's own").only_prunes();
  table
      .add("budget", o.budget,
           "how kept blocks are shared by layers: uniform, erk, global, or up to a limit of bytes=SHARE, "
           "flops=SHARE (of the dense network's) or ms=MILLISECONDS")
      .only_prunes();
  table.add("search", o.search, "how the support is chosen: top-k or regrow").only_prunes();
  table.add("schedule", o.schedule, "when phases change, instead of the method's own").only_prunes();
  table.add("drop", o.drop, "weights of dropped blocks: mask (keep) or zero").only_prunes();
  table.add("reset", o.reset, "when optimiser state is cleared: none, decompress or every").only_prunes();
  table.add("logit-lr", o.logit_lr, "learning rate of logits and masks over that of weights").only_prunes();
  table
      .add("attention-clip", o.attention_clip,
           "clamp attention: true (to [density, 1/density]), false, or LOW,HIGH")
      .only_prunes();
  table
      .add("logit-start", o.logit_start,
           "logits begin at this times the logarithm of the blocks' norms, the network unchanged; 0: at zero")
      .only_prunes();
  table
      .add("decay-dropped", o.decay_dropped,
           "weights of dropped blocks decay and follow their momentum, as under a plain optimiser")
      .only_prunes();
  table.add("rounding", o.rounding, "blocks to keep, where they are no whole number: down or nearest")
      .one_of({"down", "nearest"})
      .only_prunes();
  table.add("alpha", o.alpha, "exponent of powerprop and attention-power").only_prunes();
  table.add("ramp", o.ramp, "how SPARSIFICATION proceeds: exponential or polynomial").only_prunes();
  table.add("ramp-c", o.ramp_c, "steepness of the ramp; 0 is linear for exponential").only_prunes();
  table
      .add("revive", o.revive,
           "at the last selection blocks on no path from input to output make room for others of their layer")
      .only_prunes();
  table.add("rerank-every", o.rerank_every, "steps between selections during SPARSIFICATION").only_prunes();
  table
      .add("dense-fraction", o.dense_fraction, "share of the first dense phase, where not the schedule's own")
      .only_prunes();
  table
      .add("sparsification", o.sparsification,
           "SPARSIFICATION phases; without, sparse and dense share theirs")
      .only_prunes()
      .was_not("no-sparsification");
  table.add("cycles", o.cycles, "how often acdc and sa++ schedules go from dense to sparse").only_prunes();
  table.add("cycle", o.cycle, "parts of a cycle: sparsification, sparse, dense").only_prunes();
  table.add("min-blocks", o.min_blocks, "layers with fewer blocks stay dense").only_prunes();
  table.add("prune-layers", o.layers, "patterns of layer names to prune, with commas between").only_prunes();
}

void describe_length(Options& o, OptionTable& table) {
  table.add("epochs", o.epochs, "passes over the training data").at_least(1);
  table.add("steps", o.steps, "training steps, instead of epochs").at_least(0);
  table.add("batch", o.batch, "batch size, of all processes together").at_least(1);
  table.add("accumulate", o.accumulate, "parts in which a batch is worked through, to need less memory")
      .at_least(1);
  table.add("precision", o.precision, "numbers in which layers compute: fp32 or bf16")
      .one_of({"fp32", "bf16"});
  table.add("ema", o.ema, "decay of the moving average of weights over the last phase; 0: no average")
      .share();
}

void describe_teacher(Options& o, OptionTable& table) {
  table.add("teacher", o.teacher,
            "learn from this trained network too, of the same form: a .safetensors or .pt file or a finished "
            "run; self-dense: from the dense model, trained first as with --compare-dense");
  table.add("teacher-share", o.teacher_share, "share of the teacher in the loss, in [0, 1]").share_or_all();
  table
      .add("temperature", o.temperature,
           "how much the answers of teacher and network are evened out before they are compared; auto: 4 for "
           "classes, 1 for click logs")
      .above(0);
}

void describe_update(Options& o, OptionTable& table) {
  table.add("optimiser", o.optimiser, "sgd, adam or adamw").one_of({"sgd", "adam", "adamw"}).was("optimizer");
  table.add("lr", o.lr, "peak learning rate; auto: 0.1 for sgd, 0.001 for adam").above(0);
  table.add("lr-schedule", o.lr_schedule, "cosine, exponential or constant")
      .one_of({"cosine", "exponential", "constant"});
  table.add("lr-end", o.lr_end, "last learning rate (exponential needs one)").at_least(0);
  table.add("warmup", o.warmup, "share of the steps with rising learning rate").share();
  table.add("momentum", o.momentum, "momentum of sgd").share();
  table.add("nesterov", o.nesterov, "Nesterov's momentum rather than plain momentum").was_not("no-nesterov");
  table.add("weight-decay", o.weight_decay, "decay of weights").at_least(0);
  table
      .add("logit-decay", o.prune.logit_decay,
           "decay of logits and masks; auto: the method's own, else as weights")
      .only_prunes();
  table
      .add("logit-moment", o.prune.logit_moment,
           "second moment of logits and masks under Adam: own, or shared by a layer")
      .only_prunes();
  table.add("decay-all", o.decay_all, "decay biases and normalisation layers too");
  table.add("label-smoothing", o.label_smoothing, "share of the target given to all classes")
      .share()
      .in("Training");
  table.add("clip-grad", o.prune.clip_grad,
            "largest norm of all gradients together; 0: no limit; auto: the method's own");
  table.add("augment", o.augment, "random crops and mirrors in training").in("Data").was_not("no-augment");
}

void describe_place(Options& o, OptionTable& table) {
  table.add("seed", o.seed, "seed of everything random").in("Training");
  table.add("device", o.device, "cpu, cuda or cuda:N").may_change_on_resume();
  table.add("threads", o.threads, "CPU threads; 0: all cores").between(0, 1024).may_change_on_resume();
  table.add("out", o.out, "run folder; default: a new one under runs/").may_change_on_resume().in("Records");
  table.add("compare-dense", o.compare_dense, "train the dense model too, with the same settings")
      .in("Training")
      .was_off_by("no-compare");
  table.add("cudnn-benchmark", o.cudnn_benchmark,
            "let cuDNN time its algorithms: faster, not repeatable bit for bit");
  table.add("sync-batch-norm", o.sync_batch_norm,
            "with several processes: batch-norm over the whole batch, not over each one's share");
  table.add("cuda-graphs", o.cuda_graphs, "record steps on a GPU and replay them, instead of every launch")
      .may_change_on_resume()
      .was_not("no-cuda-graphs");
  table
      .add("sparse-execution", o.prune.sparse_execution,
           "layers that run on kept blocks only (CPU): on, off or LAYER:DENSITY,...; auto: by a rule of "
           "block and size")
      .only_prunes();
}

void describe_records(Options& o, OptionTable& table) {
  table.add("eval-on", o.eval_on, "held-out part that is evaluated: test or validation")
      .one_of({"test", "validation"});
  table.add("eval-every", o.eval_every, "epochs between evaluations").at_least(1);
  table.add("log-every", o.log_every, "steps between lines of metrics.jsonl").at_least(1);
  table.add("checkpoint-every", o.checkpoint_every, "steps between checkpoints; 0: every epoch")
      .at_least(0)
      .may_change_on_resume();
  table.add("keep-checkpoints", o.keep_checkpoints, "checkpoints kept").at_least(1).may_change_on_resume();
}

}  // namespace

OptionTable describe(Options& o) {
  OptionTable table;
  table.group("Data");
  table.add("data", o.data, "data set, NAME or NAME:PATH (see hewn methods)");
  data::describe(o.clicks, table);
  data::describe(o.folders, table);
  data::describe(o.tables, table);
  data::describe(o.text, table);
  table.group("Network");
  describe_network(o, table);
  table.group("Pruning");
  describe_pruning(o.prune, table);
  table.add("costs", o.costs, "for budget ms: file of times that hewn advise --costs has written")
      .only_prunes();
  table.group("Training");
  describe_length(o, table);
  describe_teacher(o, table);
  table.group("Optimiser");
  describe_update(o, table);
  table.group("Machine");
  describe_place(o, table);
  table.group("Records");
  describe_records(o, table);
  return table;
}

}  // namespace hewn::run

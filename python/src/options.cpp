#include "options.h"

#include "hewn/core/options.h"

namespace hewn::python {
namespace {

OptionTable describe(PrunerOptions& o) {
  OptionTable table;
  table.add("method", o.method, "");
  table.add("block", o.block, "");
  table.add("sparsity", o.sparsity, "");
  table.add("budget", o.budget, "");
  table.add("rounding", o.rounding, "");
  table.add("chain", o.chain, "");
  table.add("steps", o.steps, "");
  table.add("prune-layers", o.layers, "");
  table.add("except", o.except, "");
  table.add("min-blocks", o.min_blocks, "");
  table.add("embeddings", o.embeddings, "");
  table.add("clicks", o.clicks, "");
  table.add("adam", o.adam, "");
  table.add("trained", o.trained, "");
  table.add("score", o.score, "");
  table.add("search", o.search, "");
  table.add("schedule", o.schedule, "");
  table.add("drop", o.drop, "");
  table.add("reset", o.reset, "");
  table.add("logit-lr", o.logit_lr, "");
  table.add("logit-decay", o.logit_decay, "");
  table.add("logit-moment", o.logit_moment, "");
  table.add("clip-grad", o.clip_grad, "");
  table.add("attention-clip", o.attention_clip, "");
  table.add("logit-start", o.logit_start, "");
  table.add("decay-dropped", o.decay_dropped, "");
  table.add("revive", o.revive, "");
  table.add("alpha", o.alpha, "");
  table.add("ramp", o.ramp, "");
  table.add("ramp-c", o.ramp_c, "");
  table.add("rerank-every", o.rerank_every, "");
  table.add("dense-fraction", o.dense_fraction, "");
  table.add("sparsification", o.sparsification, "");
  table.add("cycles", o.cycles, "");
  table.add("cycle", o.cycle, "");
  table.add("sparse-execution", o.sparse_execution, "");
  return table;
}

}  // namespace

PrunerOptions options_from(const std::map<std::string, std::string>& given) {
  PrunerOptions options;
  const OptionTable table = describe(options);
  for (const auto& [key, text] : given) table.find(key, "hewn.Pruner").parse(text);
  return options;
}

}  // namespace hewn::python

#include "hewn/train/loop.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/run/loop_state.h"
#include "hewn/run/stopped.h"
#include "hewn/tensor/state_dict.h"
#include "hewn/train/evaluate.h"
#include "hewn/train/teacher.h"

namespace hewn::train {
namespace {

// A mean loss this many times the first one does not come back. A trained network starts near 0, which is no
// measure: pruning it costs more than that.
constexpr double kExplosion = 20;
constexpr double kLeastFirstLoss = 0.5;
constexpr int64_t kLookEvery = 50;  // steps between looks at losses that lie on a GPU or with other processes

at::Device device_of(const nn::Model& model) { return model.parameters().front().device(); }

std::unique_ptr<WeightAverage> average_of(const LoopParts& parts, double decay) {
  std::map<std::string, at::Tensor> live = tensor::state_dict(parts.model);
  for (const auto& layer : parts.pruner.algorithm().layers()) {
    for (const auto& parameter : layer.score->parameters()) {
      live[hewn::str("score.", layer.name, ".", parameter.name)] = parameter.tensor;
    }
  }
  return std::make_unique<WeightAverage>(live, decay);
}

/// Every process chose its supports by itself. They must be the same.
void check_same_supports(const prune::Pruner& pruner, dist::Communicator& group) {
  if (group.place().alone()) return;
  uint32_t hash = 0;
  for (const auto& layer : pruner.layers()) {
    if (!layer.support.defined()) continue;
    const at::Tensor bytes = layer.support.cpu().contiguous();
    hash = crc32({static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()}, hash);
  }
  const std::vector<at::Tensor> all = group.gather(at::full({1}, int64_t{hash}, group.device()));
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].item<int64_t>() != hash) {
      throw Error(
          hewn::str("rank ", group.place().rank, " and rank ", rank,
                    " chose different blocks; do all run the same hewn on the same kind of machine?"));
    }
  }
}

/// Whether losses are read without waiting for a GPU or for other processes.
bool losses_are_here(const at::Tensor& losses, const dist::Communicator& group) {
  return losses.is_cpu() && group.place().alone();
}

}  // namespace

Loop::Loop(const LoopParts& parts, const LoopOptions& options)
    : parts_(parts),
      options_(options),
      work_({parts.model, parts.pruner, parts.optimiser, parts.group}, options.step),
      start_(std::chrono::steady_clock::now()) {
  if (options.ema > 0) average_ = average_of(parts, options.ema);
  const auto device = at::TensorOptions().device(device_of(parts.model));
  losses_ = at::zeros({options.log_every}, device.dtype(at::kFloat));
  correct_ = at::zeros({}, device.dtype(at::kLong));
}

void Loop::run() {
  const RecordableStream stream(device_of(parts_.model));
  if (!work_.obstacle().empty()) {
    parts_.observer.on_message("steps are launched, not replayed as CUDA graphs: " + work_.obstacle());
  }
  parts_.model.train();
  parts_.observer.on_begin(course_of(parts_.pruner.algorithm().schedule(), options_, parts_.source, step_));
  if (unevaluated_) {
    evaluate_now();
    save();
  }
  while (step_ < options_.steps) {
    if (asked_to_stop()) stop();
    train_step();
    const bool last = step_ == options_.steps;
    const bool evaluates = last || step_ % options_.eval_every == 0;
    const bool saves = last || step_ % options_.checkpoint_every == 0;
    if (last || step_ % options_.log_every == 0) {
      report();
    } else if (evaluates || saves || step_ % kLookEvery == 0 || losses_are_here(losses_, *parts_.group)) {
      look_at_losses();
    }
    if (last && average_) average_->apply();
    if (evaluates) evaluate_now();
    if (saves) save();
  }
}

void Loop::evaluate_now() {
  const at::NoGradGuard no_grad;
  parts_.pruner.refresh();
  unevaluated_ = true;
  run::Evaluation out{step_, options_.steps, parts_.pruner.algorithm().moment().phase, options_.part, {}, 0};
  try {
    out.metrics = evaluate(parts_.model, parts_.source, *parts_.group, parts_.observer);
  } catch (const run::Stopped&) {
    // It is made up for when the run goes on, so that its log is that of one that was never stopped.
    save();
    stop();
  }
  unevaluated_ = false;
  out.seconds = seconds();
  parts_.observer.on_evaluation(out);
}

bool Loop::asked_to_stop() const {
  const bool asked = parts_.observer.stop_requested();
  dist::Communicator& group = *parts_.group;
  if (group.place().alone()) return asked;
  // All must stop at the same step. On GPUs hearing the others waits for the device: that is done where
  // losses were just read.
  return (group.device().is_cpu() || pending_ == 0) && anyone(asked, group);
}

void Loop::stop() {
  if (saved_ != step_) save();
  throw run::Stopped(step_ == 0 ? "stopped before the first step"
                                : hewn::str("stopped after step ", step_, " of ", options_.steps));
}

void Loop::train_step() {
  const int64_t per_epoch = parts_.source.train_batches();
  const data::Batch batch = parts_.source.train_batch(step_ / per_epoch, step_ % per_epoch);
  const prune::PhaseChange change = parts_.pruner.advance();
  if (change.entered) {
    check_same_supports(parts_.pruner.algorithm(), *parts_.group);
    parts_.observer.on_phase(step_ + 1, change.moment.phase);
  }
  work_.run(batch, options_.rate.at(step_));
  // Losses stay on the device until they are reported: no step waits for the GPU.
  losses_[pending_].copy_(work_.loss());
  correct_ += work_.correct();
  if (average_) change.entered ? average_->restart() : average_->update();
  ++pending_;
  ++step_;
  parts_.observer.on_step(step_, change.moment.phase);
}

void Loop::report() {
  const auto [all_losses, all_correct] = totals();
  const at::Tensor losses = all_losses.narrow(0, 0, pending_).cpu();
  run::Progress progress;
  progress.step = step_;
  progress.steps = options_.steps;
  progress.epoch = (step_ - 1) / parts_.source.train_batches();
  progress.phase = parts_.pruner.algorithm().moment().phase;
  progress.loss = losses.to(at::kDouble).mean().item<double>();
  check_losses(losses, 0);
  if (first_loss_ > 0 && progress.loss > kExplosion * std::max(first_loss_, kLeastFirstLoss)) {
    diverged(step_, hewn::str("loss ", progress.loss));
  }
  if (first_loss_ == 0) first_loss_ = progress.loss;
  if (options_.step.task->has_right_answers()) {
    progress.accuracy = 100.0 * static_cast<double>(all_correct.item<int64_t>()) /
                        static_cast<double>(pending_ * options_.batch * parts_.source.info().targets);
  }
  progress.lr = options_.rate.at(step_ - 1);
  int64_t active = 0;
  int64_t all = 0;
  for (const auto& layer : parts_.pruner.algorithm().layers()) {
    const int64_t blocks = layer.weight.blocks();
    const int64_t kept = layer.support.defined() ? layer.support.sum().item<int64_t>() : blocks;
    progress.active.emplace_back(layer.name, static_cast<double>(kept) / static_cast<double>(blocks));
    active += kept;
    all += blocks;
  }
  progress.active_fraction = all == 0 ? 1 : static_cast<double>(active) / static_cast<double>(all);
  progress.seconds = seconds();
  parts_.observer.on_progress(progress);
  pending_ = 0;
  correct_.zero_();
}

void Loop::look_at_losses() const {
  // Where reading costs nothing this is done after every step.
  const bool here = losses_are_here(losses_, *parts_.group);
  check_losses(here ? losses_ : totals().first.cpu(), here ? pending_ - 1 : 0);
}

void Loop::check_losses(const at::Tensor& losses, int64_t begin) const {
  const auto* values = losses.data_ptr<float>();
  for (int64_t i = begin; i < pending_; ++i) {
    if (std::isfinite(values[i])) continue;
    diverged(step_ - pending_ + i + 1, std::isnan(values[i]) ? "loss nan" : "loss inf");
  }
}

/// The loss of a step says nothing of the weights that the step makes.
void Loop::check_weights() const {
  const std::string name = tensor::not_finite(tensor::state_dict(parts_.model));
  if (!name.empty()) diverged(step_, hewn::str(name, " is no longer finite"));
}

void Loop::diverged(int64_t step, const std::string& what) const {
  const auto phase = prune::name_of(parts_.pruner.algorithm().schedule().at(step - 1).phase);
  throw Error(hewn::str("training diverged at step ", step, " of ", options_.steps, ", phase ", phase,
                        ", learning rate ", options_.rate.at(step - 1), ": ", what,
                        "; try a smaller lr, a smaller logit-lr or clip-grad 1",
                        saved_ > 0 ? hewn::str(" (the checkpoint after step ", saved_, " stays)") : ""));
}

double Loop::seconds() const {
  const std::chrono::duration<double> now = std::chrono::steady_clock::now() - start_;
  return seconds_before_ + now.count();
}

std::pair<at::Tensor, at::Tensor> Loop::totals() const {
  at::Tensor losses = losses_.clone();
  at::Tensor correct = correct_.clone();
  parts_.group->sum(losses);
  parts_.group->sum(correct);
  losses /= static_cast<double>(parts_.group->place().size);
  return {losses, correct};
}

void Loop::save() {
  check_weights();
  const auto [losses, correct] = totals();
  saved_ = step_;
  if (!parts_.group->place().first()) return;
  Checkpoint checkpoint;
  checkpoint.step = step_;
  run::LoopState state{step_,
                       pending_,
                       first_loss_,
                       seconds(),
                       parts_.pruner.algorithm().phase_index(),
                       parts_.optimiser.steps_since_reset(),
                       unevaluated_};
  if (options_.step.teacher) state.teacher = options_.step.teacher->crc;
  checkpoint.state = run::to_json(state);
  const auto add = [&](const std::string& prefix, const std::map<std::string, at::Tensor>& tensors) {
    for (const auto& [name, tensor] : tensors) checkpoint.tensors[prefix + name] = tensor;
  };
  add("model.", tensor::state_dict(parts_.model));
  add("pruner.", parts_.pruner.state());
  add("optimiser.", parts_.optimiser.state());
  add("loop.", {{"losses", losses}, {"correct", correct}});
  if (average_) add("average.", average_->state());
  parts_.checkpoints.save(checkpoint);
}

void Loop::restore(const Checkpoint& checkpoint, const std::string& where) {
  const tensor::TensorFile file{{}, checkpoint.tensors};
  const run::LoopState state =
      run::read_loop_state(checkpoint.state, {checkpoint.step, options_.steps, options_.log_every}, where);
  step_ = saved_ = state.step;
  unevaluated_ = state.unevaluated;
  pending_ = state.pending;
  first_loss_ = state.first_loss;
  seconds_before_ = state.seconds;
  if (options_.step.teacher) {
    if (!state.teacher) throw FormatError(where, "does not fit this run: it has no teacher");
    check_same_teacher(*options_.step.teacher, *state.teacher);
  }
  const auto take = [&](const std::map<std::string, at::Tensor>& targets, const std::string& prefix) {
    tensor::copy_exactly_into(targets, file, prefix, where);
  };
  take(tensor::state_dict(parts_.model), "model.");
  take({{"losses", losses_}, {"correct", correct_}}, "loop.");
  if (!parts_.group->place().first()) correct_.zero_();  // counted by rank 0
  take(parts_.optimiser.state(), "optimiser.");
  if (average_) take(average_->state(), "average.");
  std::map<std::string, at::Tensor> pruner;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    if (name.starts_with("pruner.")) pruner[name.substr(7)] = tensor;
  }
  try {
    parts_.pruner.load_state(pruner, step_);
  } catch (const Error& problem) {
    throw FormatError(where, hewn::str("does not fit this run: ", problem.what()));
  }
  if (parts_.pruner.algorithm().phase_index() != state.phase_index)
    throw FormatError(where, "does not fit this run: its phase is another one than the schedule's");
  parts_.optimiser.set_steps_since_reset(state.optimiser_steps);
  start_ = std::chrono::steady_clock::now();
}

}  // namespace hewn::train

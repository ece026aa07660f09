#include "hewn/flow/network.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>

#include "hewn/core/error.h"
#include "hewn/flow/parts.h"
#include "hewn/flow/passes/simplify.h"
#include "hewn/flow/samples.h"

namespace hewn::flow {
namespace {

constexpr size_t kMostBytes = size_t{1} << 32;
constexpr size_t kMostPlans = 4;  // that a network keeps
constexpr int64_t kFew = 16;      // samples that show what one takes: a vector of them

Tensor copy_of(const Tensor& tensor) {
  Tensor copy(tensor.spec());
  if (tensor.byte_count() > 0) std::memcpy(copy.bytes(), tensor.bytes(), tensor.byte_count());
  return copy;
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.spec() == b.spec() &&
         (a.byte_count() == 0 || std::memcmp(a.bytes(), b.bytes(), a.byte_count()) == 0);
}

/// Whether a sample alone would wait for weights from memory longer than its activations gain in the cache:
/// large matrices that multiply one column of it. AlexNet, 224 MB of such, took 12.6 ms an image in pieces of
/// one, and 8.6 in a batch of 8.
bool waits_for_weights(const Plan& plan, int64_t samples) {
  constexpr int64_t kByte = 8;  // multiply-adds in the time in which one comes from memory
  constexpr int64_t kCached = int64_t{1} << 24;
  constexpr int64_t kGain = 5;  // the share of its time that a sample gains
  int64_t waits = 0;
  for (const Step& step : plan.steps)
    waits += std::max<int64_t>(0, kByte * step.weights - step.work / samples);
  return waits > kByte * kCached && waits > plan.work / samples / kGain;
}

}  // namespace

struct Network::Shared {
  explicit Shared(int64_t block) : weights(block) {}

  Graph graph;
  std::mutex mutex;  // of the weights
  WeightCache weights;
};

struct Network::Ready {
  size_t samples = 1;  // of the batch, where it is cut; else it is one
  size_t pieces = 1;   // of as many samples each
  size_t piece = 1;    // samples of one
  std::vector<Spec> specs;
  std::vector<Spec> outputs;
  std::vector<Tensor> results;                       // of run_in_place
  std::vector<std::pair<size_t, Tensor>> looked_at;  // inputs whose numbers the plan depends on
  Part part;                                         // for a piece
  std::optional<Part> rest;                          // for the samples behind the last piece

  void make(std::vector<Tensor>& tensors) const {
    tensors.resize(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (tensors[i].spec() != outputs[i]) tensors[i] = Tensor(outputs[i]);
    }
  }

  bool fits(const std::vector<Tensor>& given) const {
    if (given.size() != specs.size()) return false;
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i].spec() != specs[i]) return false;
    }
    return std::all_of(looked_at.begin(), looked_at.end(),
                       [&](const auto& entry) { return same_bytes(given[entry.first], entry.second); });
  }
};

Network::Network(Graph graph, int64_t block) : shared_(std::make_shared<Shared>(block)) {
  simplify(graph);
  shared_->graph = std::move(graph);
}

Network& Network::operator=(const Network& other) {
  if (this == &other) return *this;
  shared_ = other.shared_;
  ready_.clear();
  threads_ = other.threads_;
  return *this;
}

const Graph& Network::graph() const { return shared_->graph; }

void Network::set_threads(int threads) {
  threads_ = threads > 0 ? threads : std::max(1, omp_get_num_procs());
}

/// A plan for so many samples of the batch, where it gives the same for them. Nothing: it does not.
std::optional<Plan> Network::plan_samples(const Ready& ready, int64_t size) {
  std::vector<Tensor> inputs;
  for (Spec spec : ready.specs) {
    spec.dims[0] = size;
    inputs.emplace_back(spec);
  }
  try {
    Plan plan = make_plan(specialise(shared_->graph, inputs), shared_->weights, kMostBytes);
    for (size_t i = 0; i < plan.outputs.size(); ++i) {
      Spec whole = plan.output_specs[i];
      if (whole.dims.empty() || whole.dims[0] != size) return {};
      whole.dims[0] = ready.specs[0].dims[0];
      if (whole != ready.outputs[i]) return {};
    }
    return plan;
  } catch (const Error&) {
    return {};  // it does not take other batches
  }
}

/// Cuts a batch whose samples are apart into pieces whose activations stay in the cache. ResNet-50 with a
/// tenth of its blocks took 19.8 ms an image so, and 24.2 in a batch of 8. Whether it did.
bool Network::cut(Ready& ready, int64_t samples) {
  constexpr int64_t kCacheBytes = int64_t{3} << 19;
  constexpr int64_t kMostPieceBytes = int64_t{1} << 28;
  const int64_t few = std::min(samples, kFew);
  std::optional<Plan> plan = plan_samples(ready, few);
  if (!plan) return false;
  const int64_t bytes = std::max<int64_t>(static_cast<int64_t>(plan->bytes) / few, 1);
  int64_t most = plan->single_samples ? 1 : std::max<int64_t>(kCacheBytes / bytes, 1);
  if (!plan->single_samples && waits_for_weights(*plan, few)) most = std::max(most, kMostPieceBytes / bytes);
  if (most >= samples) return false;
  const int64_t pieces = (samples + most - 1) / most;
  const int64_t size = (samples + pieces - 1) / pieces;
  plan = plan_samples(ready, size);
  if (!plan) return false;
  if (samples % size != 0) {
    std::optional<Plan> rest = plan_samples(ready, samples % size);
    if (!rest) return false;
    ready.rest = Part{std::move(*rest), {}, {}};
  }
  ready.part.plan = std::move(*plan);
  ready.samples = static_cast<size_t>(samples);
  ready.piece = static_cast<size_t>(size);
  ready.pieces = static_cast<size_t>(samples / size);
  return true;
}

/// Throws TooLarge where the whole batch has a tensor that is.
void Network::make_whole(Ready& ready, const std::vector<Tensor>& inputs, int64_t samples) {
  std::vector<Tensor> own;  // a plan may keep numbers that it looked at
  for (const Tensor& input : inputs) own.push_back(copy_of(input));
  const Special special = specialise(shared_->graph, own);
  for (size_t i = 0; i < own.size(); ++i) {
    if (special.looked_at.contains(shared_->graph.inputs[i].value)) ready.looked_at.emplace_back(i, own[i]);
  }
  for (const Port& output : special.graph.outputs)
    ready.outputs.push_back(special.specs[static_cast<size_t>(output.value)]);
  const std::lock_guard lock(shared_->mutex);
  if (!samples_are_apart(special, samples) || !cut(ready, samples))
    ready.part.plan = make_plan(special, shared_->weights, kMostBytes);
}

/// The same from what a few of the samples show. Whether it could be done.
bool Network::make_pieces(Ready& ready, int64_t samples) {
  if (samples <= kFew) return false;
  std::vector<Tensor> inputs;
  for (Spec spec : ready.specs) {
    if (spec.dims.empty() || spec.dims[0] != samples) return false;
    spec.dims[0] = kFew;
    inputs.emplace_back(spec);
  }
  const Special special = specialise(shared_->graph, inputs);
  if (!samples_are_apart(special, kFew)) return false;
  ready.outputs.clear();
  for (const Port& output : special.graph.outputs) {
    ready.outputs.push_back(special.specs[static_cast<size_t>(output.value)]);
    ready.outputs.back().dims[0] = samples;
  }
  const std::lock_guard lock(shared_->mutex);
  return cut(ready, samples);
}

Network::Ready& Network::prepare(const std::vector<Tensor>& inputs) {
  const auto known = std::find_if(ready_.begin(), ready_.end(),
                                  [&](const std::shared_ptr<Ready>& ready) { return ready->fits(inputs); });
  if (known != ready_.end()) {
    std::rotate(ready_.begin(), known, known + 1);
    return *ready_.front();
  }
  auto ready = std::make_shared<Ready>();
  for (const Tensor& input : inputs) ready->specs.push_back(input.spec());
  const int64_t samples = ready->specs.empty() || ready->specs[0].dims.empty() ? 1 : ready->specs[0].dims[0];
  try {
    make_whole(*ready, inputs, samples);
  } catch (const TooLarge&) {
    if (!make_pieces(*ready, samples)) throw;
  }
  if (ready_.size() == kMostPlans) ready_.pop_back();
  ready_.insert(ready_.begin(), std::move(ready));
  return *ready_.front();
}

std::vector<Tensor> Network::run(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> outputs;
  run(inputs, outputs);
  return outputs;
}

void Network::run(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
  Ready& ready = prepare(inputs);
  ready.make(outputs);
  run_pieces(ready, {inputs, outputs, ready.samples});
}

const std::vector<Tensor>& Network::run_in_place(const std::vector<Tensor>& inputs) {
  Ready& ready = prepare(inputs);
  ready.make(ready.results);
  run_pieces(ready, {inputs, ready.results, ready.samples});
  return ready.results;
}

void Network::run_on_planes(const std::vector<Tensor>& inputs) {
  Ready& ready = prepare(inputs);
  run_pieces(ready, {inputs, ready.results, ready.samples, Route::kOnPlanes});
}

/// Threads run whole pieces side by side; what is left over they share step by step.
void Network::run_pieces(Ready& ready, const Batch& batch) {
  const std::vector<Tensor>& inputs = batch.inputs;
  const int64_t work = ready.part.plan.work * static_cast<int64_t>(ready.pieces);
  const auto team = std::min<size_t>(ready.pieces, static_cast<size_t>(enough_threads(work, threads_)));
  ready.part.prepare(team, inputs.size());
  const size_t whole = team > 1 ? ready.pieces / team * team : 0;
  std::exception_ptr failure;
#pragma omp parallel num_threads(static_cast <int>(team)) if (team > 1)
  {
    const auto self = static_cast<size_t>(omp_get_thread_num());
    // A team may be smaller than asked for.
    const auto step = static_cast<size_t>(omp_get_num_threads());
    try {
      for (size_t i = self; i < whole; i += step) batch.run(ready.part, self, i * ready.piece, 1);
    } catch (...) {
#pragma omp critical
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
  for (size_t i = whole; i < ready.pieces; ++i) batch.run(ready.part, 0, i * ready.piece, threads_);
  if (!ready.rest) return;
  ready.rest->prepare(1, inputs.size());
  batch.run(*ready.rest, 0, ready.pieces * ready.piece, threads_);
}

size_t Network::prepared_bytes(const std::vector<Tensor>& inputs) { return prepare(inputs).part.plan.bytes; }

std::vector<StepTime> Network::profile(const std::vector<Tensor>& inputs) {
  Ready& ready = prepare(inputs);
  ready.make(ready.results);
  const Batch batch{inputs, ready.results, ready.samples};
  std::vector<StepTime> out;
  for (size_t i = 0; i < ready.pieces; ++i) batch.profile(ready.part, i * ready.piece, out);
  if (ready.rest) batch.profile(*ready.rest, ready.pieces * ready.piece, out);
  return out;
}

}  // namespace hewn::flow

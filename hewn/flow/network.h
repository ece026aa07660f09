#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hewn/flow/plan.h"

namespace hewn::flow {

struct Batch;

/// A graph, ready to run on any shapes that fit. Has memory of its own, so use it from one thread at a time;
/// copies share the weights and are cheap: make one per thread.
class Network {
 public:
  /// Zeros in weights are left out in blocks of `block`; 0: of the size that saves most. Throws Error where
  /// the graph cannot run.
  explicit Network(Graph graph, int64_t block = 0);
  Network(const Network& other) : shared_(other.shared_), threads_(other.threads_) {}
  Network& operator=(const Network& other);
  Network(Network&&) = default;
  Network& operator=(Network&&) = default;
  ~Network() = default;

  const Graph& graph() const;
  /// 0: all cores that this process may use.
  void set_threads(int threads);
  int threads() const { return threads_; }

  /// Inputs in the graph's order; outputs likewise. Throws Error where they do not fit.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs);
  /// The same into tensors that run() returned before; those of other shapes are made anew.
  void run(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs);
  /// The same, with outputs in the network's memory: valid until it runs again. Plans for inputs of the last
  /// few shapes are kept; for these nothing is allocated, but by operators that need room of their own
  /// (docs/onnx.md).
  const std::vector<Tensor>& run_in_place(const std::vector<Tensor>& inputs);

  /// What a layer in the middle of a network takes: run() without the steps that bring inputs into planes and
  /// outputs out of them, on the numbers that it left there.
  void run_on_planes(const std::vector<Tensor>& inputs);

  /// Makes everything ready for such inputs. Returns the bytes that a thread's activations take.
  size_t prepared_bytes(const std::vector<Tensor>& inputs);

  /// Runs once on one thread, and says how long every step took, for the whole batch.
  std::vector<StepTime> profile(const std::vector<Tensor>& inputs);

 private:
  struct Shared;  // between copies
  struct Ready;   // a plan and its memory

  Ready& prepare(const std::vector<Tensor>& inputs);
  void run_pieces(Ready& ready, const Batch& batch);
  void make_whole(Ready& ready, const std::vector<Tensor>& inputs, int64_t samples);
  bool make_pieces(Ready& ready, int64_t samples);
  bool cut(Ready& ready, int64_t samples);
  std::optional<Plan> plan_samples(const Ready& ready, int64_t size);

  std::shared_ptr<Shared> shared_;
  std::vector<std::shared_ptr<Ready>> ready_;  // the last used first
  int threads_ = 1;
};

}  // namespace hewn::flow

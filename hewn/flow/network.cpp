#include "hewn/flow/network.h"

#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <mutex>

#include "hewn/core/error.h"
#include "hewn/flow/simplify.h"

namespace hewn::flow {
namespace {

constexpr size_t kMostBytes = size_t{1} << 32;
constexpr size_t kHugePage = size_t{1} << 21;

std::shared_ptr<std::byte> allocate_arena(size_t bytes) {
  const size_t alignment = bytes >= kHugePage ? kHugePage : 64;
  const size_t whole = (bytes + alignment) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, whole);
  if (memory == nullptr) throw std::bad_alloc();
  if (alignment == kHugePage) madvise(memory, whole, MADV_HUGEPAGE);  // only a wish
  std::memset(memory, 0, whole);
  return {static_cast<std::byte*>(memory), [](std::byte* old) { std::free(old); }};
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.spec() == b.spec() && std::memcmp(a.bytes(), b.bytes(), a.byte_count()) == 0;
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// A thread's share of a step should take longer than waiting for the others.
int enough_threads(int64_t work, int threads) {
  constexpr double kShare = 2e6;  // multiply-adds
  return static_cast<int>(std::clamp(static_cast<double>(work) / kShare, 1.0, static_cast<double>(threads)));
}

}  // namespace

struct Network::Shared {
  explicit Shared(int64_t block) : weights(block) {}

  Graph graph;
  std::mutex mutex;  // of the weights
  WeightCache weights;
};

struct Network::Ready {
  std::vector<Spec> specs;
  std::vector<std::pair<size_t, Tensor>> looked_at;  // inputs whose numbers the plan depends on
  Plan plan;
  std::shared_ptr<std::byte> arena;
  std::vector<const void*> inputs;

  bool fits(const std::vector<Tensor>& given) const {
    if (given.size() != specs.size()) return false;
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i].spec() != specs[i]) return false;
    }
    return std::all_of(looked_at.begin(), looked_at.end(),
                       [&](const auto& entry) { return same_bytes(given[entry.first], entry.second); });
  }

  void run(int threads) {
    const Memory memory(plan, arena.get(), inputs);
    const int team = enough_threads(plan.work, threads);
    if (team == 1) {
      for (const Step& step : plan.steps) step.run(memory, 0, 1);
      return;
    }
    std::exception_ptr failure;
#pragma omp parallel num_threads(team)
    {
      const int64_t self = omp_get_thread_num();
      const int64_t parts = omp_get_num_threads();
      for (const Step& step : plan.steps) {
        try {
          if (step.divides) {
            step.run(memory, self, parts);
          } else if (self == 0 && !failure) {
            step.run(memory, 0, 1);
          }
        } catch (...) {
#pragma omp critical
          failure = std::current_exception();
        }
#pragma omp barrier
      }
    }
    if (failure) std::rethrow_exception(failure);
  }
};

Network::Network(Graph graph, int64_t block) : shared_(std::make_shared<Shared>(block)) {
  simplify(graph);
  shared_->graph = std::move(graph);
}

Network& Network::operator=(const Network& other) {
  shared_ = other.shared_;
  ready_ = nullptr;
  threads_ = other.threads_;
  return *this;
}

const Graph& Network::graph() const { return shared_->graph; }

void Network::set_threads(int threads) {
  threads_ = threads > 0 ? threads : std::max(1, omp_get_num_procs());
}

Network::Ready& Network::prepare(const std::vector<Tensor>& inputs) {
  if (ready_ != nullptr && ready_->fits(inputs)) return *ready_;
  auto ready = std::make_shared<Ready>();
  const Special special = specialise(shared_->graph, inputs);
  {
    const std::lock_guard lock(shared_->mutex);
    ready->plan = make_plan(special, shared_->weights, kMostBytes);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    ready->specs.push_back(inputs[i].spec());
    if (!special.looked_at.contains(shared_->graph.inputs[i].value)) continue;
    Tensor copy(inputs[i].spec());
    std::memcpy(copy.bytes(), inputs[i].bytes(), copy.byte_count());
    ready->looked_at.emplace_back(i, std::move(copy));
  }
  ready->arena = allocate_arena(ready->plan.bytes);
  ready->inputs.resize(inputs.size());
  ready_ = std::move(ready);
  return *ready_;
}

std::vector<Tensor> Network::run(const std::vector<Tensor>& inputs) {
  const Ready& ready = prepare(inputs);
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < ready.plan.outputs.size(); ++i) {
    // An output may lie in memory of another shape: its own is that of the graph.
    outputs.emplace_back(ready.plan.output_specs[i]);
  }
  run(inputs, outputs);
  return outputs;
}

void Network::run(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
  Ready& ready = prepare(inputs);
  for (size_t i = 0; i < inputs.size(); ++i) ready.inputs[i] = inputs[i].bytes();
  ready.run(threads_);
  const Memory memory(ready.plan, ready.arena.get(), ready.inputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::memcpy(outputs[i].bytes(), memory.at(ready.plan.outputs[i]), outputs[i].byte_count());
  }
}

std::vector<StepTime> Network::profile(const std::vector<Tensor>& inputs) {
  Ready& ready = prepare(inputs);
  for (size_t i = 0; i < inputs.size(); ++i) ready.inputs[i] = inputs[i].bytes();
  const Memory memory(ready.plan, ready.arena.get(), ready.inputs);
  std::vector<StepTime> out;
  for (const Step& step : ready.plan.steps) {
    const double begin = thread_seconds();
    step.run(memory, 0, 1);
    out.push_back({step.what, step.work, thread_seconds() - begin});
  }
  return out;
}

}  // namespace hewn::flow

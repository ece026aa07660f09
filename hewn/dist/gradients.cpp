#include "hewn/dist/gradients.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/scalar_tensor.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <functional>

#include "hewn/dist/gather.h"

namespace hewn::dist {
namespace {

using torch::autograd::variable_list;

struct Hook final : torch::autograd::FunctionPostHook {
  explicit Hook(std::function<void()> ready) : ready_(std::move(ready)) {}
  variable_list operator()(const variable_list& outputs, const variable_list&) override {
    ready_();
    return outputs;
  }

 private:
  std::function<void()> ready_;
};

/// Rows that were touched anywhere, each once, with the mean of its gradients over all processes.
at::Tensor average_rows(const at::Tensor& grad, Communicator& communicator) {
  const at::Tensor own = grad.coalesce();
  const std::vector<at::Tensor> rows = gather_uneven(communicator, own._indices()[0]);
  const std::vector<at::Tensor> values = gather_uneven(communicator, own._values());
  const at::Tensor mean = at::cat(values) / static_cast<double>(values.size());
  return at::_sparse_coo_tensor_unsafe(at::cat(rows).unsqueeze(0), mean, grad.sizes()).coalesce();
}

/// Gradients that are sent together.
struct Bucket {
  std::vector<size_t> members;  // numbers of leaves
  std::vector<int64_t> offsets;
  at::Tensor flat;
  size_t missing = 0;  // members whose gradient is not there yet
  std::unique_ptr<Pending> pending;
};

}  // namespace

class GradientAverage::State {
 public:
  State(std::vector<at::Tensor> leaves, std::vector<at::Tensor> tables,
        std::shared_ptr<Communicator> communicator, int64_t bucket_bytes)
      : leaves_(std::move(leaves)),
        tables_(std::move(tables)),
        communicator_(std::move(communicator)),
        bucket_of_(leaves_.size()) {
    fill_buckets(bucket_bytes);
  }

  void start() {
    armed_ = true;
    next_ = 0;
    for (Bucket& bucket : buckets_) bucket.missing = bucket.members.size();
  }

  void ready(size_t leaf) {
    if (!armed_) return;
    const at::NoGradGuard no_grad;
    Bucket& bucket = buckets_[bucket_of_[leaf]];
    // The mean is the sum of shares: one pass scales and gathers.
    at::Tensor to = part(bucket, leaf);
    at::mul_out(to, leaves_[leaf].grad(), share());
    --bucket.missing;
    send_full();
  }

  void finish() {
    armed_ = false;
    const at::NoGradGuard no_grad;
    // What took no part in this step is sent as zeros: the others count on it.
    for (; next_ < buckets_.size(); ++next_) {
      Bucket& bucket = buckets_[next_];
      for (const size_t leaf : bucket.members) {
        if (!leaves_[leaf].grad().defined()) part(bucket, leaf).zero_();
      }
      send(bucket);
    }
    for (Bucket& bucket : buckets_) {
      bucket.pending->wait();
      bucket.pending.reset();
      // Gradients stay where they arrived: they are used up before the bucket is filled again.
      for (const size_t leaf : bucket.members) {
        if (leaves_[leaf].grad().defined()) leaves_[leaf].mutable_grad() = part(bucket, leaf);
      }
    }
    for (at::Tensor& table : tables_) table.mutable_grad() = average_rows(table.grad(), *communicator_);
  }

  /// Calls ready() whenever a leaf's gradient is complete. A hook lives as long as its node, which the leaf
  /// itself does not keep.
  void watch(const std::shared_ptr<State>& self) {
    for (size_t i = 0; i < leaves_.size(); ++i) {
      nodes_.push_back(torch::autograd::impl::grad_accumulator(leaves_[i]));
      const std::weak_ptr<State> weak = self;
      nodes_.back()->add_post_hook(std::make_unique<Hook>([weak, i] {
        if (const auto state = weak.lock()) state->ready(i);
      }));
    }
  }

  const std::vector<Bucket>& buckets() const { return buckets_; }

 private:
  /// From the last leaf to the first. The first bucket is small, so that sending begins early.
  void fill_buckets(int64_t bytes) {
    int64_t room = std::min<int64_t>(bytes, int64_t{1} << 20);
    int64_t filled = 0;
    for (size_t i = leaves_.size(); i-- > 0;) {
      const auto size = static_cast<int64_t>(leaves_[i].nbytes());
      if (buckets_.empty() || (filled > 0 && filled + size > room)) {
        if (!buckets_.empty()) room = bytes;
        buckets_.emplace_back();
        filled = 0;
      }
      buckets_.back().offsets.push_back(filled / static_cast<int64_t>(sizeof(float)));
      buckets_.back().members.push_back(i);
      bucket_of_[i] = buckets_.size() - 1;
      filled += size;
    }
    for (Bucket& bucket : buckets_) {
      const int64_t numbers = bucket.offsets.back() + leaves_[bucket.members.back()].numel();
      bucket.flat = at::empty({numbers}, leaves_[bucket.members.front()].options().requires_grad(false));
    }
  }

  /// A leaf's place in its bucket, in the leaf's shape.
  at::Tensor part(const Bucket& bucket, size_t leaf) const {
    const auto at = std::find(bucket.members.begin(), bucket.members.end(), leaf) - bucket.members.begin();
    return bucket.flat.narrow(0, bucket.offsets[static_cast<size_t>(at)], leaves_[leaf].numel())
        .view(leaves_[leaf].sizes());
  }

  at::Tensor share() const {
    return at::scalar_tensor(1 / static_cast<double>(communicator_->place().size),
                             leaves_[0].options().requires_grad(false));
  }

  /// Buckets go in order, so that all processes send the same one.
  void send_full() {
    for (; next_ < buckets_.size() && buckets_[next_].missing == 0; ++next_) send(buckets_[next_]);
  }
  void send(Bucket& bucket) { bucket.pending = communicator_->start_sum(bucket.flat); }

  std::vector<at::Tensor> leaves_;
  std::vector<at::Tensor> tables_;
  std::shared_ptr<Communicator> communicator_;
  std::vector<std::shared_ptr<torch::autograd::Node>> nodes_;
  std::vector<size_t> bucket_of_;
  std::vector<Bucket> buckets_;
  size_t next_ = 0;  // bucket to be sent
  bool armed_ = false;
};

GradientAverage::GradientAverage(const std::vector<at::Tensor>& leaves, const std::vector<at::Tensor>& tables,
                                 std::shared_ptr<Communicator> communicator, int64_t bucket_bytes)
    : state_(std::make_shared<State>(leaves, tables, std::move(communicator), bucket_bytes)) {
  state_->watch(state_);
}

GradientAverage::~GradientAverage() = default;

void GradientAverage::start() { state_->start(); }
void GradientAverage::finish() { state_->finish(); }
int64_t GradientAverage::buckets() const { return static_cast<int64_t>(state_->buckets().size()); }
int64_t GradientAverage::last_numbers() const { return state_->buckets().back().flat.numel(); }

}  // namespace hewn::dist

#include "hewn/nn/batch_norm.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "hewn/nn/model.h"

namespace hewn::nn {
namespace {

/// Threads that stand for processes: each waits until all have brought their tensor.
class Meeting {
 public:
  explicit Meeting(int processes) : all_(processes), brought_(static_cast<size_t>(processes)) {}

  SumOverProcesses sum(size_t process) {
    return [this, process](const at::Tensor& tensor) {
      const at::NoGradGuard no_grad;
      brought_[process] = tensor.clone();
      all_.arrive_and_wait();
      tensor.zero_();
      for (const at::Tensor& part : brought_) tensor.add_(part);
      all_.arrive_and_wait();
    };
  }

 private:
  std::barrier<> all_;
  std::vector<at::Tensor> brought_;
};

void give_values(BatchNorm2d& norm) {
  at::manual_seed(3);
  norm->weight.detach().copy_(at::rand({5}) + 0.5);
  norm->bias.detach().copy_(at::randn({5}));
}

TEST(BatchNorm, SharesOfABatchAreNormalisedAsTheWhole) {
  at::manual_seed(1);
  // A mean far from 0, where a difference of squares would lose digits.
  const at::Tensor input = at::randn({9, 5, 4, 3}) + 100;
  const at::Tensor target = at::randn({9, 5, 4, 3});
  BatchNorm2d whole(5);
  give_values(whole);
  at::Tensor x = input.clone().set_requires_grad(true);
  const at::Tensor expected = whole->forward(x);
  expected.backward(target);

  // Shares of different size.
  const std::vector<std::pair<int64_t, int64_t>> shares = {{0, 2}, {2, 6}, {8, 1}};
  Meeting meeting(3);
  std::vector<BatchNorm2d> norms;
  std::vector<at::Tensor> inputs, outputs(3);
  for (size_t i = 0; i < 3; ++i) {
    norms.emplace_back(5);
    give_values(norms[i]);
    norms[i]->synchronise(meeting.sum(i));
    inputs.push_back(input.narrow(0, shares[i].first, shares[i].second).clone().set_requires_grad(true));
  }
  std::vector<std::thread> processes;
  for (size_t i = 0; i < 3; ++i) {
    processes.emplace_back([&, i] {
      outputs[i] = norms[i]->forward(inputs[i]);
      outputs[i].backward(target.narrow(0, shares[i].first, shares[i].second));
    });
  }
  for (std::thread& process : processes) process.join();
  EXPECT_TRUE(at::allclose(at::cat(outputs), expected, 1e-4, 1e-4));
  EXPECT_TRUE(
      at::allclose(at::cat({inputs[0].grad(), inputs[1].grad(), inputs[2].grad()}), x.grad(), 1e-3, 1e-4));
  const auto sum = [&](const auto& of) { return of(norms[0]) + of(norms[1]) + of(norms[2]); };
  EXPECT_TRUE(
      at::allclose(sum([](BatchNorm2d& n) { return n->weight.grad(); }), whole->weight.grad(), 1e-3, 1e-3));
  EXPECT_TRUE(
      at::allclose(sum([](BatchNorm2d& n) { return n->bias.grad(); }), whole->bias.grad(), 1e-4, 1e-4));
  for (BatchNorm2d& norm : norms) {
    EXPECT_TRUE(at::allclose(norm->running_mean, whole->running_mean, 1e-5, 1e-5));
    EXPECT_TRUE(at::allclose(norm->running_var, whole->running_var, 1e-4, 1e-5));
    EXPECT_TRUE(at::equal(norm->num_batches_tracked, whole->num_batches_tracked));
  }
}

TEST(BatchNorm, EvaluationAsksNobody) {
  BatchNorm2d norm(2);
  norm->synchronise([](const at::Tensor&) { FAIL() << "a process alone would wait here"; });
  norm->eval();
  norm->forward(at::randn({1, 2, 3, 3}));
}

TEST(BatchNorm, EveryLayerOfAModelIsTold) {
  const auto model = find_model("resnet20").make({{3, 32, 32}, 10}, {});
  EXPECT_EQ(synchronise_batch_norm(*model, nullptr), 19);
}

}  // namespace
}  // namespace hewn::nn

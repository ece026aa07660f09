// What a step with a teacher minimises, against formulas written out.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hewn/optimiser.h"
#include "hewn/run/recipe.h"
#include "hewn/tensor/state_dict.h"
#include "hewn/train/network.h"
#include "hewn/train/step/step.h"

namespace hewn::train {
namespace {

using Rows = std::vector<std::vector<double>>;

Rows rows_of(const at::Tensor& tensor) {
  const at::Tensor wide = tensor.detach().to(at::kDouble).reshape({tensor.size(0), -1}).contiguous();
  Rows out;
  for (int64_t i = 0; i < wide.size(0); ++i) {
    const double* begin = wide.data_ptr<double>() + i * wide.size(1);
    out.emplace_back(begin, begin + wide.size(1));
  }
  return out;
}

std::vector<double> softmax(const std::vector<double>& logits, double temperature) {
  std::vector<double> out;
  double sum = 0;
  for (const double logit : logits) sum += out.emplace_back(std::exp(logit / temperature));
  for (double& value : out) value /= sum;
  return out;
}

double divergence(const Rows& said, const Rows& wanted, double temperature) {
  double sum = 0;
  for (size_t i = 0; i < said.size(); ++i) {
    const auto q = softmax(said[i], temperature);
    const auto p = softmax(wanted[i], temperature);
    for (size_t c = 0; c < p.size(); ++c) sum += p[c] * std::log(p[c] / q[c]);
  }
  return temperature * temperature * sum / static_cast<double>(said.size());
}

double click_entropy(const Rows& said, const Rows& wanted, double temperature) {
  double sum = 0;
  for (size_t i = 0; i < said.size(); ++i) {
    const double q = 1 / (1 + std::exp(-said[i][0] / temperature));
    const double p = 1 / (1 + std::exp(-wanted[i][0] / temperature));
    sum -= p * std::log(q) + (1 - p) * std::log(1 - q);
  }
  return temperature * temperature * sum / static_cast<double>(said.size());
}

double squares(const Rows& said, const Rows& wanted, double /*temperature*/) {
  double sum = 0;
  for (size_t i = 0; i < said.size(); ++i) sum += std::pow(said[i][0] - wanted[i][0], 2);
  return sum / static_cast<double>(said.size());
}

struct Case {
  const char* model;
  data::Kind kind;
  nn::Signature signature;
  double (*distance)(const Rows&, const Rows&, double);
  bool normalised = false;

  at::Tensor input(int64_t rows) const {
    if (kind == data::Kind::kClicks) return at::randint(5, {rows, 3}, at::kInt);
    std::vector<int64_t> shape = signature.input;
    shape.insert(shape.begin(), rows);
    return at::randn(shape);
  }
  at::Tensor target(int64_t rows) const {
    if (kind == data::Kind::kNumbers) return at::randn({rows});
    const at::Tensor classes = at::randint(signature.outputs == 1 ? 2 : signature.outputs, {rows}, at::kLong);
    return kind == data::Kind::kClicks ? classes.to(at::kFloat) : classes;
  }
};

const std::vector<Case> kTasks = {
    {"resnet20", data::Kind::kImages, {{3, 8, 8}, 10}, divergence, true},
    {"mlp", data::Kind::kClasses, {{6}, 4}, divergence},
    {"ctr-dnn", data::Kind::kClicks, {{3}, 1, nn::Takes::kClicks, {5, 6, 7}}, click_entropy},
    {"mlp", data::Kind::kNumbers, {{6}, 1}, squares}};

/// A step of a small network that learns from another one.
struct Lesson {
  const Case& what;
  run::Options options;
  std::shared_ptr<nn::Model> model;
  Teacher teacher;
  std::shared_ptr<const Task> task;
  data::Batch batch;
  at::Tensor loss;

  Lesson(const Case& with, int64_t accumulate) : what(with) {
    options.model = what.model;
    options.widths = {16, 16};
    options.prune.method = "dense";
    options.seed = 1;
    teacher = {"", build_model(options, what.signature), 0.3, 2.5};
    teacher.model->eval();
    options.seed = 0;
    model = build_model(options, what.signature);
    task = make_task(what.kind, 0);
    batch = {what.input(12), what.target(12)};
    Pruner pruner(*model, run::pruner_options(options, 4));
    Optimiser optimiser(pruner, run::optimiser_options(options));
    Step step({*model, pruner, optimiser, dist::alone()},
              {task, accumulate, Precision::kFp32, false, std::make_shared<const Teacher>(teacher)});
    pruner.advance();
    step.run(batch, 0.1);
    loss = step.loss().clone();
  }
};

TEST(Distil, AStepMinimisesBothLossesByTheirShares) {
  for (const Case& what : kTasks) {
    for (const int64_t accumulate : {1, 3}) {
      if (accumulate > 1 && what.normalised) continue;  // whose batches are then others
      const Lesson lesson(what, accumulate);
      const auto before = build_model(lesson.options, what.signature);
      const at::Tensor said = before->forward(lesson.batch.input);
      const at::Tensor wanted = lesson.teacher.model->forward(lesson.batch.input);
      const double own = lesson.task->loss(said, lesson.batch.target).item<double>();
      const double expected = 0.7 * own + 0.3 * what.distance(rows_of(said), rows_of(wanted), 2.5);
      EXPECT_NEAR(lesson.loss.item<double>(), expected, 1e-5 * expected) << what.model << " " << accumulate;
      EXPECT_GT(std::fabs(expected - own), 1e-3) << what.model;
    }
  }
}

TEST(Distil, OnlyTheNetworkLearns) {
  for (const Case& what : kTasks) {
    const Lesson lesson(what, 1);
    run::Options options = lesson.options;
    const auto same = [&](nn::Model& model, int64_t seed) {
      options.seed = seed;
      const auto before = tensor::state_dict(*build_model(options, what.signature));
      bool all = true;
      for (const auto& [name, tensor] : tensor::state_dict(model))
        all = all && at::equal(tensor, before.at(name));
      return all;
    };
    EXPECT_TRUE(same(*lesson.teacher.model, 1)) << what.model;  // means of normalisation layers too
    EXPECT_FALSE(same(*lesson.model, 0)) << what.model;
    EXPECT_FALSE(lesson.teacher.answer(lesson.batch.input).requires_grad());
    for (const at::Tensor& parameter : lesson.teacher.model->parameters())
      EXPECT_FALSE(parameter.grad().defined()) << what.model;
  }
}

// With the square of the temperature in front, gradients are as large at any of them.
TEST(Distil, GradientsAreThoseOfTheFormula) {
  at::manual_seed(3);
  for (const double temperature : {1.0, 4.0}) {
    const at::Tensor wanted = at::randn({5, 7});
    at::Tensor said = at::randn({5, 7}).set_requires_grad(true);
    make_task(data::Kind::kImages, 0.1)->distil(said, wanted, temperature).backward();
    const at::Tensor difference =
        (said.detach() / temperature).softmax(1) - (wanted / temperature).softmax(1);
    EXPECT_TRUE(at::allclose(said.grad(), temperature / 5 * difference, 1e-4, 1e-6));

    at::Tensor logit = at::randn({5, 1}).set_requires_grad(true);
    make_task(data::Kind::kClicks, 0)->distil(logit, wanted.narrow(1, 0, 1), temperature).backward();
    const at::Tensor gap =
        (logit.detach() / temperature).sigmoid() - (wanted.narrow(1, 0, 1) / temperature).sigmoid();
    EXPECT_TRUE(at::allclose(logit.grad(), temperature / 5 * gap, 1e-4, 1e-6));
  }
}

TEST(Distil, EqualAnswersLeaveNothingToLearn) {
  at::manual_seed(4);
  const at::Tensor wanted = at::randn({5, 7}) * 100;  // sure of themselves
  for (const double temperature : {1.0, 4.0}) {
    at::Tensor said = wanted.clone().set_requires_grad(true);
    const at::Tensor loss = make_task(data::Kind::kImages, 0)->distil(said, wanted, temperature);
    loss.backward();
    EXPECT_EQ(loss.item<float>(), 0);
    EXPECT_LT(said.grad().abs().max().item<float>(), 1e-6);
  }
  EXPECT_EQ(make_task(data::Kind::kNumbers, 0)
                ->distil(wanted.narrow(1, 0, 1), wanted.narrow(1, 0, 1), 1)
                .item<float>(),
            0);
}

}  // namespace
}  // namespace hewn::train

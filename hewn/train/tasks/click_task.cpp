#include "hewn/train/tasks/click_task.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "hewn/dist/gather.h"

namespace hewn::train {
namespace {

at::Tensor cross_entropy(const at::Tensor& output, const at::Tensor& target, int64_t reduction) {
  return at::binary_cross_entropy_with_logits(output.flatten(), target, {}, {}, reduction);
}

at::Tensor count_right_clicks(const at::Tensor& output, const at::Tensor& target) {
  return ((output.flatten() > 0) == (target > 0.5)).sum();
}

class ClickMeter final : public Meter {
 public:
  void add(const at::Tensor& output, const at::Tensor& target) override {
    logits_.push_back(output.detach().flatten());
    clicked_.push_back(target);
  }

  void combine(dist::Communicator& group) override {
    const at::Tensor none = at::empty({0}, at::TensorOptions(at::kFloat).device(group.device()));
    if (logits_.empty()) add(none, none);
    logits_ = dist::gather_uneven(group, at::cat(logits_));
    clicked_ = dist::gather_uneven(group, at::cat(clicked_));
  }

  run::Metrics result() const override {
    const at::Tensor logits = at::cat(logits_).cpu().contiguous();
    const at::Tensor clicked = at::cat(clicked_).cpu().contiguous();
    const auto count = static_cast<double>(logits.numel());
    const at::Tensor loss =
        cross_entropy(logits.to(at::kDouble), clicked.to(at::kDouble), at::Reduction::Mean);
    const at::Tensor expected = logits.to(at::kDouble).sigmoid().sum();
    const auto samples = static_cast<size_t>(logits.numel());
    return {
        {"accuracy",
         100.0 * static_cast<double>(count_right_clicks(logits, clicked).item<int64_t>()) / count},
        {"auc", area_under_curve({logits.data_ptr<float>(), samples}, {clicked.data_ptr<float>(), samples})},
        {"calibration", expected.item<double>() / clicked.to(at::kDouble).sum().item<double>()},
        {"loss", loss.item<double>()}};
  }

 private:
  std::vector<at::Tensor> logits_;
  std::vector<at::Tensor> clicked_;
};

}  // namespace

at::Tensor ClickTask::loss(const at::Tensor& output, const at::Tensor& target) const {
  return cross_entropy(output, target, at::Reduction::Mean);
}

at::Tensor ClickTask::distil(const at::Tensor& output, const at::Tensor& teacher, double temperature) const {
  const at::Tensor wanted = (teacher.flatten().to(at::kFloat) / temperature).sigmoid();
  // Gradients shrink with the square of the temperature; so they stay beside those of the clicks.
  return temperature * temperature *
         cross_entropy(output.to(at::kFloat) / temperature, wanted, at::Reduction::Mean);
}

at::Tensor ClickTask::correct(const at::Tensor& output, const at::Tensor& target) const {
  return count_right_clicks(output, target);
}

std::unique_ptr<Meter> ClickTask::meter() const { return std::make_unique<ClickMeter>(); }

double area_under_curve(std::span<const float> scores, std::span<const float> clicked) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] < scores[b]; });
  double below = 0;  // samples without a click that score lower
  double wins = 0;
  double clicks = 0;
  for (size_t begin = 0; begin < order.size();) {
    double tied_clicks = 0;
    double tied_others = 0;
    size_t end = begin;
    for (; end < order.size() && scores[order[end]] == scores[order[begin]]; ++end) {
      (clicked[order[end]] > 0.5F ? tied_clicks : tied_others) += 1;
    }
    wins += tied_clicks * (below + tied_others / 2);
    clicks += tied_clicks;
    below += tied_others;
    begin = end;
  }
  const double pairs = clicks * below;
  return pairs > 0 ? wins / pairs : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace hewn::train

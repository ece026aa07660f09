#include "hewn/train/optimiser.h"

#include <ATen/Dispatch.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/stack.h>

#include <cmath>

#include "hewn/core/error.h"
#include "hewn/kernels/cuda/cuda.h"
#include "hewn/kernels/embedding.h"
#include "hewn/prune/memory.h"
#include "hewn/prune/stream.h"

namespace hewn::train {
namespace {

using prune::data_or_null;

template <class T>
void update_on_cpu(const kernels::UpdateRule& rule, const Parameter& parameter, const at::Tensor& grad,
                   const at::Tensor& first, const at::Tensor& second, const at::Tensor& scale) {
  const T* g = grad.data_ptr<T>();
  T* w = parameter.tensor.data_ptr<T>();
  T* m = first.data_ptr<T>();
  T* v = data_or_null<T>(second);
  const T* s = data_or_null<T>(scale);
  if (parameter.layer == nullptr || !parameter.layer->support.defined()) {
    at::parallel_for(0, parameter.tensor.numel(), prune::kGrain, [&](int64_t begin, int64_t end) {
      kernels::update<T>(rule, g, w, m, v, s, nullptr, begin, end);
    });
    return;
  }
  const WeightLayout& layout = parameter.layer->weight.layout;
  const auto* active = parameter.layer->support.data_ptr<uint8_t>();
  prune::share_columns(layout, [&](int64_t begin, int64_t end) {
    kernels::update_active<T>(rule, layout, active, g, w, m, v, s, begin, end);
  });
}

/// The gradient of a layer that runs on kept blocks only.
void update_kept(const kernels::UpdateRule& rule, const Parameter& parameter, const at::Tensor& first,
                 const at::Tensor& second, const at::Tensor& scale) {
  const prune::SparseWeight& sparse = *parameter.layer->sparse;
  const at::Tensor grad = sparse.grad();
  prune::share_kept(sparse.pattern(), [&](int64_t begin, int64_t end) {
    kernels::update_blocks(rule, sparse.pattern(), sparse.layout(), grad.data_ptr<float>(),
                           parameter.tensor.data_ptr<float>(), first.data_ptr<float>(),
                           data_or_null<float>(second), data_or_null<float>(scale), begin, end);
  });
}

/// The gradient of a table of which only some rows were touched, as nn::EmbeddingTable leaves it after one
/// backward pass: a second one would name rows again.
void update_touched(const kernels::UpdateRule& rule, const Parameter& parameter, const at::Tensor& first,
                    const at::Tensor& second, const at::Tensor& scale) {
  const at::Tensor grad = parameter.tensor.grad();
  const at::Tensor rows = grad._indices();
  const at::Tensor values = grad._values();
  const int64_t width = values.size(1);
  float* weight = parameter.tensor.data_ptr<float>();
  if (parameter.tensor.is_cuda()) {
    kernels::cuda::update_sorted_rows(rule, rows.data_ptr<int64_t>(), values.size(0), width,
                                      values.data_ptr<float>(), weight, first.data_ptr<float>(),
                                      data_or_null<float>(second), data_or_null<float>(scale),
                                      prune::current_stream(parameter.tensor));
    return;
  }
  at::parallel_for(0, values.size(0), std::max<int64_t>(1, prune::kGrain / width),
                   [&](int64_t begin, int64_t end) {
                     kernels::update_rows(rule, rows.data_ptr<int64_t>(), width, values.data_ptr<float>(),
                                          weight, first.data_ptr<float>(), data_or_null<float>(second),
                                          data_or_null<float>(scale), begin, end);
                   });
}

/// Adam and AdamW with one second moment for the whole tensor; `second` holds it in every place.
void update_shared(const kernels::UpdateRule& rule, const Parameter& parameter, const at::Tensor& grad,
                   const at::Tensor& first, const at::Tensor& second, const at::Tensor& scale) {
  const bool decoupled = rule.kind == kernels::UpdateKind::kAdamW;
  at::Tensor weight = parameter.tensor;
  at::Tensor g = scale.defined() ? grad * scale : grad;
  if (!decoupled && rule.weight_decay != 0) g = g + rule.weight_decay * weight;
  if (rule.l1_decay != 0) g = g + rule.l1_decay * weight.sign();
  first.mul_(rule.beta1).add_(g, 1 - rule.beta1);
  second.mul_(rule.beta2).add_(g.square().mean(), 1 - rule.beta2);
  if (decoupled) weight.mul_(1 - rule.lr * rule.weight_decay);
  const at::Tensor root = (second / rule.correction2).sqrt_().add_(rule.epsilon);
  weight.addcdiv_(first, root, -rule.lr / rule.correction1);
}

/// The gradient in whatever form the last backward pass left it; undefined where it left none.
at::Tensor gradient_of(const Parameter& parameter) {
  if (parameter.layer != nullptr && parameter.layer->sparse != nullptr)
    return parameter.layer->sparse->grad();
  return parameter.tensor.grad();
}

void update_on_cuda(const kernels::UpdateRule& rule, const Parameter& parameter, const at::Tensor& grad,
                    const at::Tensor& first, const at::Tensor& second, const at::Tensor& scale) {
  const bool masked = parameter.layer != nullptr && parameter.layer->support.defined();
  kernels::cuda::update(rule, masked ? parameter.layer->weight.layout : WeightLayout{},
                        masked ? parameter.layer->support.data_ptr<uint8_t>() : nullptr,
                        grad.data_ptr<float>(), parameter.tensor.data_ptr<float>(), first.data_ptr<float>(),
                        data_or_null<float>(second), data_or_null<float>(scale), parameter.tensor.numel(),
                        prune::current_stream(parameter.tensor));
}

}  // namespace

kernels::UpdateKind parse_optimiser(const std::string& name) {
  if (name == "sgd") return kernels::UpdateKind::kSgd;
  if (name == "adam") return kernels::UpdateKind::kAdam;
  if (name == "adamw") return kernels::UpdateKind::kAdamW;
  throw Error(hewn::str("optimizer: expected sgd, adam or adamw, got \"", name, "\""));
}

Optimiser::Optimiser(std::vector<Parameter> parameters, const OptimiserOptions& options)
    : parameters_(std::move(parameters)), options_(options) {
  for (const Parameter& parameter : parameters_) {
    const auto zeros = [&] {
      at::Tensor out = at::empty_like(parameter.tensor);
      prune::prefer_large_pages(out);
      return out.zero_();
    };
    Moments moments{zeros(), {}};
    if (options.kind != kernels::UpdateKind::kSgd) moments.second = zeros();
    moments_.push_back(std::move(moments));
  }
}

void Optimiser::step(double lr) {
  const at::NoGradGuard no_grad;
  ++steps_;
  const at::Tensor scale = options_.clip_norm > 0 ? clip_factor() : at::Tensor();
  kernels::UpdateRule rule;
  rule.kind = options_.kind;
  rule.momentum = options_.momentum;
  rule.nesterov = options_.nesterov;
  rule.beta1 = options_.beta1;
  rule.beta2 = options_.beta2;
  rule.epsilon = options_.epsilon;
  rule.correction1 = 1 - std::pow(options_.beta1, static_cast<double>(steps_));
  rule.correction2 = 1 - std::pow(options_.beta2, static_cast<double>(steps_));
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    if (!gradient_of(parameter).defined()) continue;
    rule.lr = lr * parameter.lr_factor;
    rule.weight_decay = parameter.weight_decay;
    rule.l1_decay = parameter.l1_decay;
    if (parameter.layer != nullptr && parameter.layer->sparse != nullptr) {
      update_kept(rule, parameter, moments_[i].first, moments_[i].second, scale);
      continue;
    }
    if (parameter.tensor.grad().is_sparse()) {
      update_touched(rule, parameter, moments_[i].first, moments_[i].second, scale);
      continue;
    }
    const at::Tensor grad = prune::in_order_of(parameter.tensor, parameter.tensor.grad());
    if (parameter.shared_moment && moments_[i].second.defined()) {
      update_shared(rule, parameter, grad, moments_[i].first, moments_[i].second, scale);
      continue;
    }
    if (parameter.tensor.is_cuda()) {
      update_on_cuda(rule, parameter, grad, moments_[i].first, moments_[i].second, scale);
      continue;
    }
    AT_DISPATCH_FLOATING_TYPES(parameter.tensor.scalar_type(), "update", [&] {
      update_on_cpu<scalar_t>(rule, parameter, grad, moments_[i].first, moments_[i].second, scale);
    });
  }
}

/// min(1, limit / norm), left on the device.
at::Tensor Optimiser::clip_factor() const {
  std::vector<at::Tensor> norms;
  for (const Parameter& parameter : parameters_) {
    const at::Tensor grad = gradient_of(parameter);
    // A sparse gradient holds every touched row once, or again as zeros.
    if (grad.defined()) norms.push_back(grad.is_sparse() ? grad._values().norm() : grad.norm());
  }
  return (options_.clip_norm / (at::stack(norms).norm() + 1e-6)).clamp_max(1.0);
}

void Optimiser::zero_grad() {
  for (Parameter& parameter : parameters_) {
    parameter.tensor.mutable_grad() = at::Tensor();
    if (parameter.layer != nullptr && parameter.layer->sparse != nullptr)
      parameter.layer->sparse->clear_grad();
  }
}

void Optimiser::reset() {
  steps_ = 0;
  for (Moments& moments : moments_) {
    moments.first.zero_();
    if (moments.second.defined()) moments.second.zero_();
  }
}

std::map<std::string, at::Tensor> Optimiser::state() const {
  std::map<std::string, at::Tensor> out;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    out["first." + parameters_[i].name] = moments_[i].first;
    if (moments_[i].second.defined()) out["second." + parameters_[i].name] = moments_[i].second;
  }
  return out;
}

}  // namespace hewn::train

#include "hewn/optimiser.h"

#include <ATen/Dispatch.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <cmath>

#include "hewn/core/error.h"
#include "hewn/kernels/cuda/cuda.h"
#include "hewn/kernels/embedding.h"
#include "hewn/pruner.h"
#include "hewn/tensor/clip.h"
#include "hewn/tensor/memory.h"
#include "hewn/tensor/stream.h"

namespace hewn {
namespace {

using tensor::data_or_null;

template <class T>
void update_on_cpu(const kernels::UpdateRule& rule, const Parameter& parameter, const at::Tensor& grad,
                   const at::Tensor& first, const at::Tensor& second, const at::Tensor& scale) {
  const T* g = grad.data_ptr<T>();
  T* w = parameter.tensor.data_ptr<T>();
  T* m = first.data_ptr<T>();
  T* v = data_or_null<T>(second);
  const T* s = data_or_null<T>(scale);
  if (parameter.layer == nullptr || !parameter.layer->support.defined()) {
    at::parallel_for(0, parameter.tensor.numel(), tensor::kGrain, [&](int64_t begin, int64_t end) {
      kernels::update<T>(rule, g, w, m, v, s, nullptr, begin, end);
    });
    return;
  }
  const WeightLayout& layout = parameter.layer->weight.layout;
  const auto* active = parameter.layer->support.data_ptr<uint8_t>();
  tensor::share_columns(layout, [&](int64_t begin, int64_t end) {
    kernels::update_active<T>(rule, layout, active, g, w, m, v, s, begin, end);
  });
}

/// The gradient of a layer that runs on kept blocks only.
void update_kept(const kernels::UpdateRule& rule, const Parameter& parameter, const at::Tensor& first,
                 const at::Tensor& second, const at::Tensor& scale) {
  const prune::SparseWeight& sparse = *parameter.layer->sparse;
  const at::Tensor grad = sparse.grad();
  tensor::share_kept(sparse.pattern(), [&](int64_t begin, int64_t end) {
    kernels::update_blocks(rule, sparse.pattern(), sparse.layout(), grad.data_ptr<float>(),
                           parameter.tensor.data_ptr<float>(), first.data_ptr<float>(),
                           data_or_null<float>(second), data_or_null<float>(scale), begin, end);
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

bool shares_moment(const Parameter& parameter, const at::Tensor& second) {
  return parameter.shared_moment && second.defined();
}

/// The step's rule with what is the tensor's own.
kernels::UpdateRule rule_for(kernels::UpdateRule rule, const Parameter& parameter) {
  rule.lr *= parameter.lr_factor;
  rule.weight_decay = parameter.weight_decay;
  rule.l1_decay = parameter.l1_decay;
  return rule;
}

kernels::cuda::UpdateRates rates_of(const Parameter& parameter) {
  return {parameter.lr_factor, parameter.weight_decay, parameter.l1_decay};
}

std::vector<Parameter> parameters_for(Pruner& pruner, const OptimiserOptions& options) {
  pruner.trained_by(parse_optimiser(options.kind) != kernels::UpdateKind::kSgd);
  return parameters_of(pruner, options.weight_decay, options.decay_all);
}

}  // namespace

Optimiser::Optimiser(Pruner& pruner, const OptimiserOptions& options)
    : Optimiser(parameters_for(pruner, options), options) {
  clip_norm_ = options.clip_norm.value_or(pruner.recipe().clip_grad);
  pruner_ = &pruner;
  resets_ = pruner.resets();
}

Optimiser::Optimiser(std::vector<Parameter> parameters, const OptimiserOptions& options)
    : lr_(options.lr),
      parameters_(std::move(parameters)),
      options_(options),
      clip_norm_(options.clip_norm.value_or(0)),
      kind_(parse_optimiser(options.kind)) {
  for (const Parameter& parameter : parameters_) {
    const auto zeros = [&] {
      at::Tensor out = at::empty_like(parameter.tensor);
      tensor::prefer_large_pages(out);
      return out.zero_();
    };
    Moments moments{zeros(), {}};
    if (kind_ != kernels::UpdateKind::kSgd) moments.second = zeros();
    moments_.push_back(std::move(moments));
  }
  if (!parameters_.empty() && parameters_.front().tensor.is_cuda()) {
    gpu_step_ = at::empty({3}, parameters_.front().tensor.options().requires_grad(false));
  }
}

void Optimiser::step(double lr) {
  begin_step(lr);
  apply();
}

void Optimiser::begin_step(double lr) {
  if (pruner_ != nullptr && pruner_->resets() != resets_) {
    reset();
    resets_ = pruner_->resets();
  }
  ++steps_;
  rule_.kind = kind_;
  rule_.momentum = options_.momentum;
  rule_.nesterov = options_.nesterov;
  rule_.beta1 = options_.beta1;
  rule_.beta2 = options_.beta2;
  rule_.epsilon = options_.epsilon;
  rule_.correction1 = 1 - std::pow(options_.beta1, static_cast<double>(steps_));
  rule_.correction2 = 1 - std::pow(options_.beta2, static_cast<double>(steps_));
  rule_.lr = lr;
  if (gpu_step_.defined()) {
    kernels::cuda::set_step(rule_, gpu_step_.data_ptr<float>(), tensor::current_stream(gpu_step_));
  }
}

void Optimiser::apply() {
  const at::NoGradGuard no_grad;
  const at::Tensor scale = clip_norm_ > 0 ? clip_factor() : at::Tensor();
  if (gpu_step_.defined()) update_on_gpu(scale);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    if (!gradient_of(parameter).defined()) continue;
    const kernels::UpdateRule rule = rule_for(rule_, parameter);
    const Moments& moments = moments_[i];
    if (parameter.layer != nullptr && parameter.layer->sparse != nullptr) {
      update_kept(rule, parameter, moments.first, moments.second, scale);
    } else if (parameter.tensor.grad().is_sparse()) {
      update_touched(i, scale);
    } else if (shares_moment(parameter, moments.second)) {
      update_shared(rule, parameter, tensor::in_order_of(parameter.tensor, parameter.tensor.grad()),
                    moments.first, moments.second, scale);
    } else if (!gpu_step_.defined()) {
      const at::Tensor grad = tensor::in_order_of(parameter.tensor, parameter.tensor.grad());
      AT_DISPATCH_FLOATING_TYPES(parameter.tensor.scalar_type(), "update", [&] {
        update_on_cpu<scalar_t>(rule, parameter, grad, moments.first, moments.second, scale);
      });
    }
  }
}

/// The ordinary tensors, all in one launch.
void Optimiser::update_on_gpu(const at::Tensor& scale) {
  std::vector<kernels::cuda::UpdateItem> items;
  std::vector<at::Tensor> alive;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    const at::Tensor& grad = parameter.tensor.grad();
    if (!grad.defined() || grad.is_sparse() || shares_moment(parameter, moments_[i].second)) continue;
    alive.push_back(tensor::in_order_of(parameter.tensor, grad));
    kernels::cuda::UpdateItem item{rates_of(parameter)};
    item.grad = alive.back().data_ptr<float>();
    item.weight = parameter.tensor.data_ptr<float>();
    item.first = moments_[i].first.data_ptr<float>();
    item.second = data_or_null<float>(moments_[i].second);
    if (parameter.layer != nullptr && parameter.layer->support.defined()) {
      item.active = parameter.layer->support.data_ptr<uint8_t>();
      item.layout = parameter.layer->weight.layout;
    }
    item.elements = parameter.tensor.numel();
    items.push_back(item);
  }
  kernels::cuda::update(rule_, gpu_step_.data_ptr<float>(), items, data_or_null<float>(scale),
                        tensor::current_stream(gpu_step_));
}

/// The gradient of a table of which only some rows were touched, as nn::EmbeddingTable leaves it after one
/// backward pass: a second one would name rows again.
void Optimiser::update_touched(size_t i, const at::Tensor& scale) {
  const Parameter& parameter = parameters_[i];
  const at::Tensor grad = parameter.tensor.grad();
  const at::Tensor rows = grad._indices();
  const at::Tensor values = grad._values();
  const int64_t width = values.size(1);
  float* weight = parameter.tensor.data_ptr<float>();
  float* first = moments_[i].first.data_ptr<float>();
  float* second = data_or_null<float>(moments_[i].second);
  if (gpu_step_.defined()) {
    kernels::cuda::update_sorted_rows(rule_, gpu_step_.data_ptr<float>(), rates_of(parameter),
                                      rows.data_ptr<int64_t>(), values.size(0), width,
                                      values.data_ptr<float>(), weight, first, second,
                                      data_or_null<float>(scale), tensor::current_stream(gpu_step_));
    return;
  }
  const kernels::UpdateRule rule = rule_for(rule_, parameter);
  at::parallel_for(0, values.size(0), std::max<int64_t>(1, tensor::kGrain / width),
                   [&](int64_t begin, int64_t end) {
                     kernels::update_rows(rule, rows.data_ptr<int64_t>(), width, values.data_ptr<float>(),
                                          weight, first, second, data_or_null<float>(scale), begin, end);
                   });
}

bool Optimiser::recordable() const {
  if (!gpu_step_.defined()) return false;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (shares_moment(parameters_[i], moments_[i].second)) return false;
  }
  return true;
}

/// min(1, limit / norm), left on the device.
at::Tensor Optimiser::clip_factor() const {
  std::vector<at::Tensor> grads;
  for (const Parameter& parameter : parameters_) {
    const at::Tensor grad = gradient_of(parameter);
    // A sparse gradient holds every touched row once, or again as zeros.
    if (grad.defined()) grads.push_back(tensor::values_of(grad));
  }
  return tensor::clip_factor(grads, clip_norm_);
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

}  // namespace hewn

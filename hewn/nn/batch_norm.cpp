#include "hewn/nn/batch_norm.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <torch/csrc/autograd/custom_function.h>

#include "hewn/core/error.h"
#include "hewn/nn/held.h"

namespace hewn::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::initializer_list<int64_t> kAllButChannels = {0, 2, 3};

at::Tensor by_channel(const at::Tensor& values) { return values.view({1, -1, 1, 1}); }

/// What a batch-norm layer does besides its trained tensors.
struct Rule {
  SumOverProcesses sum;
  double epsilon;
  double momentum;
  at::Tensor running_mean;
  at::Tensor running_var;
};

/// Sums run over the positions of all processes; n is their number. Gradients are those of the sum of all
/// processes' losses, so that averaging them over processes gives those of the mean loss.
struct Synchronised : torch::autograd::Function<Synchronised> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& weight,
                            const at::Tensor& bias, const Rule& rule) {
    const at::Tensor x = input.to(at::kFloat);
    const double positions = static_cast<double>(x.numel()) / static_cast<double>(x.size(1));
    const at::Tensor totals = at::cat({x.sum(kAllButChannels), at::full({1}, positions, x.options())});
    rule.sum(totals);
    const int64_t channels = x.size(1);
    const at::Tensor n = totals.narrow(0, channels, 1);
    const at::Tensor mean = totals.narrow(0, 0, channels) / n;
    // Around the mean: a difference of large squares would lose digits.
    const at::Tensor centred = x - by_channel(mean);
    const at::Tensor squares = centred.square().sum(kAllButChannels);
    rule.sum(squares);
    at::Tensor running_mean = rule.running_mean;
    at::Tensor running_var = rule.running_var;
    running_mean.mul_(1 - rule.momentum).add_(mean, rule.momentum);
    running_var.mul_(1 - rule.momentum).add_(squares / (n - 1), rule.momentum);
    const at::Tensor inverse = (squares / n + rule.epsilon).rsqrt();
    const at::Tensor normal = centred * by_channel(inverse);
    context->save_for_backward({normal, weight, inverse, n});
    context->saved_data["sum"] = hold(rule.sum);
    return (normal * by_channel(weight) + by_channel(bias)).to(input.scalar_type());
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& normal = saved[0];
    const at::Tensor& weight = saved[1];
    const at::Tensor& n = saved[3];
    const at::Tensor grad = grads[0].to(at::kFloat);
    const at::Tensor grad_bias = grad.sum(kAllButChannels);
    const at::Tensor grad_weight = (grad * normal).sum(kAllButChannels);
    const at::Tensor totals = at::cat({grad_bias, grad_weight});
    held<SumOverProcesses>(context->saved_data["sum"])(totals);
    const int64_t channels = weight.size(0);
    const at::Tensor mean = totals.narrow(0, 0, channels) / n;
    const at::Tensor slope = totals.narrow(0, channels, channels) / n;
    const at::Tensor grad_input =
        (grad - by_channel(mean) - normal * by_channel(slope)) * by_channel(weight * saved[2]);
    return {grad_input.to(grads[0].scalar_type()), grad_weight, grad_bias, at::Tensor()};
  }
};

}  // namespace

at::Tensor BatchNorm2dImpl::forward(const at::Tensor& input) {
  _check_input_dim(input);
  const double momentum = options.momentum().value();
  if (is_training()) num_batches_tracked += 1;
  if (is_training() && sum_) {
    return Synchronised::apply(input, weight, bias,
                               Rule{sum_, options.eps(), momentum, running_mean, running_var});
  }
  return at::batch_norm(input, weight, bias, running_mean, running_var, is_training(), momentum,
                        options.eps(), at::globalContext().userEnabledCuDNN());
}

void BatchNorm2dImpl::_check_input_dim(const at::Tensor& input) {
  if (input.dim() != 4)
    throw Error(hewn::str("batch-norm: expected images, got a tensor of shape ", input.sizes()));
}

int64_t synchronise_batch_norm(torch::nn::Module& module, const SumOverProcesses& sum) {
  int64_t layers = 0;
  for (const auto& child : module.modules(/*include_self=*/false)) {
    if (auto* norm = child->as<BatchNorm2dImpl>()) {
      norm->synchronise(sum);
      ++layers;
    }
  }
  return layers;
}

}  // namespace hewn::nn

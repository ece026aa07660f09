#include "hewn/measure/conv.h"
#include "hewn/measure/dense_conv.h"
#include "hewn/measure/prepared.h"

namespace hewn::measure {
namespace {

/// How tensors lie in memory when a call is timed.
struct Order {
  std::string name;
  Prepared x, dy, weight;
};

std::vector<Order> orders(const at::Tensor& x, const at::Tensor& dy, const at::Tensor& weight,
                          const kernels::ConvGeometry& g) {
  const auto in_order = [](const at::Tensor& tensor, at::MemoryFormat order) {
    return Prepared([=] { return tensor.contiguous(order); });
  };
  constexpr auto kPlain = at::MemoryFormat::Contiguous;
  constexpr auto kLast = at::MemoryFormat::ChannelsLast;
  return {
      {"at::conv2d, NCHW", in_order(x, kPlain), in_order(dy, kPlain), in_order(weight, kPlain)},
      {"at::conv2d, channels last", in_order(x, kLast), in_order(dy, kLast), in_order(weight, kLast)},
      // Its gradients want a plain weight.
      {"oneDNN, blocked", one_dnn_images(x), one_dnn_images(dy),
       dy.defined() ? in_order(weight, kPlain) : one_dnn_filter(weight, g.stride, g.padding, g.dilation)}};
}

}  // namespace

std::vector<Contender> Conv2d::dense(Product product) const {
  const kernels::ConvGeometry g = shape_.geometry;
  const at::Tensor dy = product == Product::kForward ? at::Tensor() : grad_output();
  std::vector<Contender> out;
  for (const Order& order : orders(x_, dy, weight_, g)) {
    if (product == Product::kForward) {
      out.push_back({order.name, [order, g] { dense_conv(order.x(), order.weight(), g); }});
      continue;
    }
    const bool input = product == Product::kGradInput;
    out.push_back({order.name, [order, g, input] {
                     dense_conv_gradient(order.dy(), order.x(), order.weight(), g, input);
                   }});
  }
  return out;
}

}  // namespace hewn::measure

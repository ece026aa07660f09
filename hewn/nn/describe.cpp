#include "hewn/nn/describe.h"

#include <ATen/TensorOperators.h>

#include <cstring>

#include "hewn/core/error.h"
#include "hewn/nn/layers.h"

namespace hewn::nn {
int32_t conv_norm(runtime::Graph& graph, const std::array<std::string, 2>& names, int32_t in,
                  const torch::nn::Conv2dImpl& conv, const BatchNorm2dImpl& norm) {
  const auto geometry = geometry_of(conv);
  if (!geometry) {
    throw Error(str("layer ", names[0],
                    ": the runtime knows no groups, no padding but zeros, and one stride, padding "
                    "and dilation for both directions"));
  }
  const int32_t x = graph.conv2d(names[0], in, conv.options.out_channels(), *geometry);
  return graph.batch_norm(names[1], x, norm.options.eps());
}

flow::Tensor flow_tensor(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().to(at::kCPU).to(at::kFloat).contiguous();
  flow::Tensor out(flow::Spec{flow::Type::kFloat, plain.sizes().vec()});
  std::memcpy(out.bytes(), plain.data_ptr<float>(), out.byte_count());
  return out;
}

int32_t describe_linear(flow::Composer& to, const std::string& name, int32_t in,
                        const torch::nn::LinearImpl& linear) {
  const int32_t weight = to.constant(name + ".weight", flow_tensor(linear.weight.t()));
  const int32_t bias = to.constant(name + ".bias", flow_tensor(linear.bias));
  return to.node("Add", name, {to.node("MatMul", name + ".product", {in, weight}), bias});
}

}  // namespace hewn::nn

#include "hewn/nn/describe.h"

#include "hewn/core/error.h"

namespace hewn::nn {
namespace {

/// The number that stands for both directions.
int64_t square(const std::string& name, const char* what, const torch::ExpandingArray<2>& pair) {
  if ((*pair)[0] != (*pair)[1]) {
    throw Error(
        str("layer ", name, ": its ", what, " differs between directions, which the runtime cannot run"));
  }
  return (*pair)[0];
}

kernels::ConvGeometry geometry(const std::string& name, const torch::nn::detail::ConvNdOptions<2>& conv) {
  if (conv.groups() != 1) throw Error(str("layer ", name, ": groups are something the runtime cannot run"));
  const auto* padding = c10::get_if<torch::ExpandingArray<2>>(&conv.padding());
  if (padding == nullptr) throw Error(str("layer ", name, ": its padding is not a number"));
  return {(*conv.kernel_size())[0], (*conv.kernel_size())[1], square(name, "stride", conv.stride()),
          square(name, "padding", *padding), square(name, "dilation", conv.dilation())};
}

}  // namespace

int32_t conv_norm(runtime::Graph& graph, const std::array<std::string, 2>& names, int32_t in,
                  const torch::nn::Conv2dImpl& conv, const torch::nn::BatchNorm2dImpl& norm) {
  const int32_t x = graph.conv2d(names[0], in, conv.options.out_channels(), geometry(names[0], conv.options));
  return graph.batch_norm(names[1], x, norm.options.eps());
}

}  // namespace hewn::nn

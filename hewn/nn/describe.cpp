#include "hewn/nn/describe.h"

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

}  // namespace hewn::nn

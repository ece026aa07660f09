#include "hewn/nn/parts.h"

#include <torch/nn/init.h>

#include "hewn/core/error.h"

namespace hewn::nn {

Conv2d conv(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  return Conv2d(torch::nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

void initialise_resnet(torch::nn::Module& module) {
  for (const auto& child : module.modules(/*include_self=*/false)) {
    if (auto* layer = child->as<torch::nn::Conv2dImpl>()) {
      torch::nn::init::kaiming_normal_(layer->weight, 0.0, torch::kFanOut, torch::kReLU);
    }
  }
}

void require_image(const Signature& signature, const char* model) {
  if (signature.input.size() == 3) return;
  throw Error(str("model ", model, ": expected images as input, got data of ", signature.input.size(),
                  " dimensions"));
}

}  // namespace hewn::nn

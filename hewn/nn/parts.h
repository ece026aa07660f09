#pragma once

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>

#include "hewn/core/error.h"
#include "hewn/nn/layers.h"
#include "hewn/nn/model.h"

namespace hewn::nn {

/// A convolution without bias and with the padding that keeps the size at stride 1.
Conv2d conv(int64_t in, int64_t out, int64_t kernel, int64_t stride);

/// Kaiming normal by fan-out for every convolution, ones and zeros for batch-norm: the usual start of a
/// ResNet.
void initialise_resnet(torch::nn::Module& module);

/// Throws Error unless the input is an image of `channels` x H x W.
void require_image(const Signature& signature, const char* model);

}  // namespace hewn::nn

#pragma once

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>

#include "hewn/core/error.h"
#include "hewn/nn/layers.h"
#include "hewn/nn/model.h"

namespace hewn::nn {

/// Throws Error, naming the option, where so many weights are more than this machine's memory holds: the
/// system would hand it out and end the program when it is used.
void check_weights_fit(const char* option, double weights);

/// A model that ends in Linear layers fc1, fc2, ... with ReLU between them.
class FullyConnected : public Model {
 public:
  std::vector<std::string> chain() const override;

 protected:
  /// Hidden layers of those widths between so many inputs and outputs.
  void add_layers(int64_t inputs, const std::vector<int64_t>& widths, int64_t outputs);
  at::Tensor run_layers(at::Tensor x);
  void describe_layers(runtime::Graph& graph, int32_t x) const;

 private:
  std::vector<Linear> layers_;
};

/// A convolution without bias and with the padding that keeps the size at stride 1.
Conv2d conv(int64_t in, int64_t out, int64_t kernel, int64_t stride);

/// Kaiming normal by fan-out for every convolution, ones and zeros for batch-norm: the usual start of a
/// ResNet.
void initialise_resnet(torch::nn::Module& module);

/// Throws Error unless the input is an image of `channels` x H x W.
void require_image(const Signature& signature, const char* model);

}  // namespace hewn::nn

#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>

namespace hewn::measure {

/// A tensor in the order in which a call wants it. Made at the first use, so that a LibTorch without oneDNN
/// fails there, where it is expected.
class Prepared {
 public:
  explicit Prepared(std::function<at::Tensor()> make)
      : make_(std::move(make)), made_(std::make_shared<at::Tensor>()) {}

  const at::Tensor& operator()() const {
    if (!made_->defined()) *made_ = make_();
    return *made_;
  }

 private:
  std::function<at::Tensor()> make_;
  std::shared_ptr<at::Tensor> made_;
};

/// The same order as before.
Prepared one_dnn_plain(const at::Tensor& tensor);

/// Images (NCHW) in the blocked order in which oneDNN's convolutions hand them to each other: what comes out
/// of a convolution that changes nothing.
Prepared one_dnn_images(const at::Tensor& images);

/// A convolution's weight in the order its kernel reads.
Prepared one_dnn_filter(const at::Tensor& weight, int64_t stride, int64_t padding, int64_t dilation);

}  // namespace hewn::measure

#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

namespace hewn::train {

using Metrics = std::map<std::string, double>;

/// Classification: cross-entropy loss, accuracy in percent.
class Task {
 public:
  explicit Task(double label_smoothing) : label_smoothing_(label_smoothing) {}

  /// What training minimises: the mean over the batch.
  at::Tensor loss(const at::Tensor& output, const at::Tensor& target) const;
  /// How many of the batch are right, left on the device.
  static at::Tensor correct(const at::Tensor& output, const at::Tensor& target);

 private:
  double label_smoothing_;
};

/// Gathers plain (unsmoothed) loss and accuracy over batches, on the device until asked.
class Meter {
 public:
  void add(const at::Tensor& output, const at::Tensor& target);
  Metrics result() const;

 private:
  at::Tensor loss_;
  at::Tensor correct_;
  int64_t count_ = 0;
};

}  // namespace hewn::train

#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>

#include "hewn/data/source.h"
#include "hewn/dist/communicator.h"
#include "hewn/run/metrics.h"

namespace hewn::train {

/// Gathers metrics over batches, on the device until asked.
class Meter {
 public:
  virtual ~Meter() = default;
  virtual void add(const at::Tensor& output, const at::Tensor& target) = 0;
  /// Puts together what the processes of a group gathered, each from its batches.
  virtual void combine(dist::Communicator& group) = 0;
  virtual run::Metrics result() const = 0;
};

/// What a network is trained for, and how well it does it.
class Task {
 public:
  virtual ~Task() = default;
  /// What training minimises: the mean over the batch.
  virtual at::Tensor loss(const at::Tensor& output, const at::Tensor& target) const = 0;
  /// How far the network's output is from a teacher's, at a temperature: the mean over the batch, at least
  /// where both are equal.
  virtual at::Tensor distil(const at::Tensor& output, const at::Tensor& teacher,
                            double temperature) const = 0;
  /// None: a temperature has no meaning for such answers.
  virtual std::optional<double> usual_temperature() const { return std::nullopt; }
  /// Whether an answer is right or wrong: not where it is a number.
  virtual bool has_right_answers() const { return true; }
  /// How many of the batch's targets are met, left on the device.
  virtual at::Tensor correct(const at::Tensor& output, const at::Tensor& target) const = 0;
  virtual std::unique_ptr<Meter> meter() const = 0;
};

/// Images and classes: cross-entropy; loss (unsmoothed) and accuracy in percent. Clicks: binary cross-entropy
/// of a logit; loss, accuracy, auc, and calibration (clicks expected over clicks seen). Numbers: mean squared
/// error; loss, r2 (share of the variance that is explained), and rmse in the target's unit, of which
/// `target_scale` is 1 in a batch. Text: as classes, over all positions, and bpc, the loss in bits.
std::shared_ptr<const Task> make_task(data::Kind kind, double label_smoothing, double target_scale = 1);

}  // namespace hewn::train

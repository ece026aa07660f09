#pragma once

#include <optional>
#include <string>

#include "hewn/kernels/update.h"

namespace hewn {

struct OptimiserOptions {
  std::string kind = "sgd";  // sgd, adam or adamw
  double lr = 0.1;           // of step() without an argument
  double weight_decay = 0;
  bool decay_all = false;  // decay biases and normalisation layers too
  double momentum = 0.9;
  bool nesterov = true;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  std::optional<double> clip_norm = {};  // largest norm of all gradients; 0: no limit; none: the method's own
};

/// Throws Error for a kind that is not known.
kernels::UpdateKind parse_optimiser(const std::string& name);

}  // namespace hewn

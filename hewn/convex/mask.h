#pragma once

#include <string>
#include <vector>

#include "hewn/convex/solver/solution.h"

namespace hewn::convex {

/// A reparametrisation of each group: u_i = m(w_i) b_i with one factor per group and a ridge-like penalty on
/// both, or a power of the group's own norm. Each equals a sum-form penalty of ||u_i||.
struct Mask {
  enum class Kind {
    kIdentity,   // u = w b,            lambda/2 (w^2 + ||b||^2)
    kExp,        // u = e^w b,          lambda (w^2 + ||b||^2)
    kL1,         // u = w b,            lambda (|w| + ||b||^2)
    kPowerprop,  // u = ||b||^(a-1) b,  lambda ||b||^2
  };
  Kind kind = Kind::kIdentity;
  double alpha = 2;  // of powerprop, at least 2

  /// The penalty of ||u_i|| that it equals, at the same lambda.
  Penalty equivalent() const;
  bool has_factor() const { return kind != Kind::kPowerprop; }
};
/// "identity", "exp", "l1", "powerprop" or "powerprop:3". Throws Error for anything else.
Mask parse_mask(const std::string& text);

/// One group's factor and values.
struct Masked {
  double w = 1;
  Vector b;
};
/// u from its mask form.
Vector fold(const Mask& mask, const Masked& masked);
/// The mask form of u whose penalty is least; folding it gives u back.
Masked lift(const Mask& mask, const Vector& u);
/// What the mask form pays for one group, without lambda.
double cost(const Mask& mask, const Masked& masked);

struct MaskTraining {
  double objective = 0;  // in mask form
  Solution solution;     // folded
  int iterations = 0;
  bool at_saddle = false;  // a group is at zero that would lower the objective: not converged
};
/// Minimises the mask form by L-BFGS from `start` (values of all groups; none may be zero in identity, l1 and
/// powerprop masks, where a group once dead stays dead, and groups of one coefficient never
/// change its sign).
MaskTraining train_mask(const Problem& problem, const Mask& mask, double lambda, const Vector& start,
                        int max_iterations = 20000);

}  // namespace hewn::convex

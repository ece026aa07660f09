#pragma once

#include "hewn/convex/selection/method.h"

namespace hewn::convex {

/// Both fill in what was selected of the problem in `out`. Throw Error naming the option that does not fit.

/// Penalties and masks: a path of lambdas.
void follow_path(Selection& out, const ChosenMethod& chosen, const SelectOptions& options,
                 const Options& solver, const std::function<void(int, int)>& progress);
/// Methods that choose a set.
void pursue_subset(Selection& out, const ChosenMethod& chosen, const SelectOptions& options,
                   const Options& solver, const std::function<void(int, int)>& progress);

/// Norm that a penalty with a unit takes for 1 unless the options say otherwise: the size of a step that the
/// group with the largest gradient would take alone.
double natural_unit(const Problem& problem, const Options& solver);

/// What the options say of cross-validation.
CrossValidationOptions cv_options(const SelectOptions& options, const Loss& loss);
/// The entry that its rule takes.
std::size_t chosen_by(const CrossValidation& cv, const SelectOptions& options);

}  // namespace hewn::convex

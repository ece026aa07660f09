#pragma once

#include "hewn/convex/fit/state.h"

namespace hewn::convex {

/// Sequential strong rule: a gradient is assumed to grow no faster than lambda falls. Not safe, hence
/// checked.
std::vector<Index> strong_set(const State& state, double lambda);
/// How far the current point is from optimal in one group, in units of its weight. (The state's probe may
/// meet the group.)
double violation_of(State& state, Index group, double lambda);
/// The least lambda at which no group alone would leave zero; for penalties that start like the norm, the
/// group LASSO's. Nothing but intercept and unpenalised groups may have values.
double least_empty_lambda(State& state);
/// Puts groups that are not optimal at zero into the working set, the worst first; false where there is none.
bool add_violators(State& state, const std::vector<Index>& among, double lambda, double tolerance);
/// Whether inner products save more than they cost, in time and memory, once these groups are included too.
bool gram_pays(const State& state, const Quadratic& quadratic, const std::vector<Index>& entering);
/// Puts these groups, none of them inside, at the end of the working set.
void enter(State& state, const std::vector<Index>& entering);

}  // namespace hewn::convex

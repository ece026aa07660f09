#pragma once

#include <map>
#include <string>

#include "hewn/sweep/sections.h"
#include "hewn/sweep/spec.h"

namespace hewn::sweep {

/// The axis over which tables take means.
inline constexpr const char* kSeed = "seed";

/// Fills in what [sweep] leaves open about the table and checks that it names axes and values that are there.
/// `entries` are those of [sweep], for lines in errors.
void lay_out(Spec& spec, const std::map<std::string, Value>& entries);

/// Axes in neither rows nor columns, other than the seed: each of their values has a table of its own.
std::vector<std::string> split_axes(const Spec& spec);

}  // namespace hewn::sweep

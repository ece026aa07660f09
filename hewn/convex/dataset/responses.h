#pragma once

#include <string>
#include <vector>

#include "hewn/convex/dataset.h"

namespace hewn::convex {

/// Classes of a response, and values of a category, at most.
constexpr std::size_t kMostClasses = 1000;

/// One text for each number: 1, 1.0 and 1e0 are the same class, and so are 0 and -0.
std::string label_of(double value);

/// Numbers sort as numbers, other labels as text.
std::vector<std::string> distinct_labels(const std::vector<std::string>& labels);

/// Says in the data's note where a response that nobody called gaussian is 0 or 1 throughout.
void note_two_values(Dataset& out, const std::string& asked);

/// Task cox: a time without an event becomes negative. `events` is 0 or 1 for each sample. Throws
/// FormatError.
void mark_events(Dataset& out, const Vector& events, const std::string& path);

/// Fills in task, responses and names of outputs from one column of labels or several of numbers.
void set_responses(Dataset& out, std::vector<std::vector<std::string>> columns,
                   const std::vector<std::string>& names, const std::string& path);

}  // namespace hewn::convex

#pragma once

#include <string>
#include <vector>

#include "hewn/data/tables/cells.h"

namespace hewn::data {

/// What the target is, where the task is classification, regression or auto: text throughout is classes,
/// numbers throughout are numbers. Throws FormatError that names the cell for a mixture.
bool is_classification(const Cells& cells, const std::string& task);

/// Numbers sort as numbers. Throws FormatError for one class, for too many, and for numbers with fractions.
std::vector<std::string> classes_of(const Cells& cells);

/// Throws FormatError that names the first cell without a number.
std::vector<double> numbers_in(const Cells& cells);

}  // namespace hewn::data

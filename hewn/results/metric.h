#pragma once

#include <map>
#include <string>

#include "hewn/core/json.h"

namespace hewn::results {

/// The metric by which runs are judged where nothing else is said: the loss of click logs, else the accuracy.
std::string usual_metric(bool clicks);

/// Whether more of a metric is better. Throws Error for one that no table is made of.
bool larger_is_better(const std::string& metric);

/// What ranks values of a metric: less is better. Calibration is best at 1.
double cost(const std::string& metric, double value);

/// The numbers among a summary's metrics; what is not finite was written as null and is left out.
std::map<std::string, double> numbers_of(const Json& metrics);

/// A metric with the digits that are usual for it: "88.43" or "0.4065".
std::string value_text(const std::string& metric, double value);
/// A difference of two values: "+0.65" or "-0.0012".
std::string difference_text(const std::string& metric, double value);
/// A probability with two digits.
std::string probability_text(double p);

}  // namespace hewn::results

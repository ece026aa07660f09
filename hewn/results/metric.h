#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hewn/core/json.h"

namespace hewn::results {

/// What a network answers with.
enum class Answers : uint8_t { kClasses, kClicks, kNumbers, kText };

/// The metrics that tables are made of; first the one by which runs are judged where nothing else is said:
/// the accuracy of classes, the loss of clicks, the rmse of numbers, the bits per character of text.
const std::vector<std::string>& metrics_of(Answers answers);
/// Which answers have metrics of these names.
Answers answers_with(const std::set<std::string>& names);

/// Whether more of a metric is better. Throws Error for one that no table is made of.
bool larger_is_better(const std::string& metric);

/// What ranks values of a metric: less is better. Calibration is best at 1.
double cost(const std::string& metric, double value);

/// The numbers among a summary's metrics; what is not finite was written as null and is left out.
std::map<std::string, double> numbers_of(const Json& metrics);

/// A metric with the digits that are usual for it: "88.43" or "0.4065"; an rmse, whose unit is the
/// target's, has five.
std::string value_text(const std::string& metric, double value);
/// A difference of two values: "+0.65" or "-0.0012".
std::string difference_text(const std::string& metric, double value);
/// A probability with two digits.
std::string probability_text(double p);

}  // namespace hewn::results

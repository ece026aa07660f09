#pragma once

#include <cstdint>

namespace hewn::data {

/// Images: input float N x C x H x W, target int64 N, a class. Clicks: input int32 N x fields, the number of
/// each field's value; target float N, 0 or 1. Classes and numbers: rows of a table, input float N x
/// features; target int64 N, a class, or float N, a number in standard deviations from its mean. Text: input
/// int64 N x positions, numbers of characters; target the same, the character behind each.
enum class Kind : uint8_t { kImages, kClicks, kClasses, kNumbers, kText };

/// What is held out of training. Data sets without a validation part answer with an Error.
enum class Part : uint8_t { kTest, kValidation };

}  // namespace hewn::data

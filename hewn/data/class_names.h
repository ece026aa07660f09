#pragma once

#include <string>
#include <vector>

namespace hewn::data {

/// What the classes of a data set with a fixed set of them are called.
std::vector<std::string> digit_names();
std::vector<std::string> fashion_names();
std::vector<std::string> cifar10_names();
std::vector<std::string> cifar100_names();

}  // namespace hewn::data

#pragma once

#include <string>

namespace hewn::measure {

/// The processor's name, as the operating system gives it.
std::string processor_name();

}  // namespace hewn::measure

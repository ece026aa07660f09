#pragma once

#include <map>
#include <string>

namespace hewn::measure {

/// The processor's name, as the operating system gives it.
std::string processor_name();

/// By thread of this process: milliseconds that it has waited for a processor while it could have run. Empty
/// where the operating system does not tell.
using Waits = std::map<std::string, double>;
Waits waits_of_threads();

/// The longest that one thread has waited between the two.
double longest_wait(const Waits& before, const Waits& after);

}  // namespace hewn::measure

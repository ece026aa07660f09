#pragma once

#include <string>
#include <string_view>

#include "hewn/convex/penalty/penalty.h"
#include "hewn/convex/select.h"

namespace hewn::convex {

enum class MethodKind { kComposed, kSum, kMask, kOmp, kOmpr, kIht, kSequential };

/// A row of the table of methods.
struct Method {
  std::string_view name;
  MethodKind kind;
  std::string_view part;  // of a penalty or mask
  bool takes_number;
  std::string_view help;

  /// Chooses a set of groups of a given size; the others follow a path of lambdas.
  bool is_subset() const;
};

struct ChosenMethod {
  const Method* method;
  std::string part;  // with its number
};

/// "omp", or with a number "q-pow:0.5". Throws Error for an unknown name, or a number where none belongs.
ChosenMethod find_method(const std::string& text);
/// Of a method that follows a path; `unit` and `singles` as Penalty has them.
Penalty penalty_of(const ChosenMethod& chosen, double unit, double singles = 0);
/// Whether what a method selects would depend on the units of the data if its penalty did not have one.
bool takes_unit(const ChosenMethod& chosen);
/// Throws Error naming an option that is out of range or means nothing for the method.
void check_options(const ChosenMethod& chosen, const SelectOptions& options);

}  // namespace hewn::convex

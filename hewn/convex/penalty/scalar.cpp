#include "hewn/convex/penalty/scalar.h"

#include "hewn/core/options.h"
#include "hewn/core/table.h"

namespace hewn::convex {

#define HEWN_SCALAR(function, name, help, parameter) std::unique_ptr<Scalar> function(double);
#include "hewn/convex/penalty/scalars.def"
#undef HEWN_SCALAR

const std::vector<ScalarRow>& scalars() {
  static const std::vector<ScalarRow> rows = {
#define HEWN_SCALAR(function, name, help, parameter) {name, help, parameter, function},
#include "hewn/convex/penalty/scalars.def"
#undef HEWN_SCALAR
  };
  return rows;
}

std::unique_ptr<Scalar> make_scalar(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const ScalarRow& row = find_row(scalars(), name, "penalty");
  double parameter = row.parameter;
  if (colon != std::string::npos) {
    if (parameter == 0) throw Error(str("penalty ", name, ": takes no number, got \"", text, "\""));
    parse_value("penalty " + name, text.substr(colon + 1), parameter);
  }
  return row.make(parameter);
}

}  // namespace hewn::convex

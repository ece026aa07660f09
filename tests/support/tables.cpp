#include "tests/support/tables.h"

#include <cmath>
#include <sstream>

#include "hewn/core/random.h"

namespace hewn::test {

std::string regression_table(int64_t rows, int64_t first) {
  constexpr uint64_t kColumns = 10;
  std::ostringstream out;
  for (uint64_t c = 0; c < kColumns; ++c) out << "x" << c << ",";
  out << "y\n";
  for (int64_t i = first; i < first + rows; ++i) {
    double x[kColumns];
    for (uint64_t c = 0; c < kColumns; ++c) {
      x[c] = 2 * unit(draw(5, Stream::kPattern, c, static_cast<uint64_t>(i))[0]) - 1;
      out << 50 + 10 * x[c] << ",";
    }
    out << 1000 + 300 * std::sin(2 * x[0]) + 200 * x[1] * x[2] << "\n";
  }
  return out.str();
}

}  // namespace hewn::test

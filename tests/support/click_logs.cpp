#include "tests/support/click_logs.h"

#include <zlib.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "hewn/core/random.h"

namespace hewn::test {

std::string criteo_row(uint64_t number) {
  constexpr uint64_t kIntegers = 13;
  constexpr uint64_t kCategories = 26;
  std::string row = draw(1, Stream::kPattern, 0, number)[0] % 4 == 0 ? "1" : "0";
  std::array<char, 32> text{};
  for (uint64_t c = 1; c <= kIntegers + kCategories; ++c) {
    const auto words = draw(1, Stream::kPattern, c, number);
    row += '\t';
    if (words[0] % 10 == 0) continue;
    const double skewed = std::exp(unit(words[1]) * static_cast<double>(c % 13));
    if (c <= kIntegers) {
      std::snprintf(text.data(), text.size(), "%d", static_cast<int>(skewed) - 2);
    } else {
      const auto value = static_cast<uint64_t>(skewed);
      std::snprintf(text.data(), text.size(), "%08x", philox(2, c, value)[0]);
    }
    row += text.data();
  }
  return row;
}

std::string criteo_rows(uint64_t first, uint64_t count) {
  std::string out;
  for (uint64_t row = first; row < first + count; ++row) out += criteo_row(row) + "\n";
  return out;
}

void write_gzip(const std::filesystem::path& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb");
  const int written = gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  if (gzclose(file) != Z_OK || written != static_cast<int>(text.size()))
    throw std::runtime_error("gzip failed");
}

}  // namespace hewn::test

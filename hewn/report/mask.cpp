#include "hewn/report/mask.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "hewn/report/series.h"

namespace hewn::report {
namespace {

constexpr uint8_t kKept = 0x80;
constexpr double kLevels = 127;

std::string single_blocks(const std::vector<uint8_t>& kept, const std::vector<float>& importance, float low,
                          float high) {
  std::string cells(kept.size(), '\0');
  for (size_t i = 0; i < kept.size(); ++i) {
    uint8_t cell = kept[i] != 0 ? kKept : 0;
    if (high > low && std::isfinite(importance[i])) {
      const double share = (importance[i] - low) / (static_cast<double>(high) - low);
      cell |= static_cast<uint8_t>(std::lround(kLevels * std::clamp(share, 0.0, 1.0)));
    }
    cells[i] = static_cast<char>(cell);
  }
  return cells;
}

std::string merged_blocks(const Grid& grid, const std::vector<uint8_t>& kept, int64_t merged) {
  const int64_t rows = (grid.row_blocks() + merged - 1) / merged;
  const int64_t cols = (grid.col_blocks() + merged - 1) / merged;
  std::vector<int64_t> sums(static_cast<size_t>(rows * cols));
  std::vector<int64_t> counts(sums.size());
  for (int64_t i = 0; i < grid.blocks(); ++i) {
    const auto cell =
        static_cast<size_t>(i / grid.col_blocks() / merged * cols + i % grid.col_blocks() / merged);
    sums[cell] += kept[static_cast<size_t>(i)];
    ++counts[cell];
  }
  std::string cells(sums.size(), '\0');
  for (size_t i = 0; i < sums.size(); ++i)
    cells[i] = static_cast<char>((255 * sums[i] + counts[i] / 2) / counts[i]);
  return cells;
}

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](size_t k) {
      return i + k < bytes.size() ? static_cast<uint32_t>(static_cast<uint8_t>(bytes[i + k])) : 0U;
    };
    const uint32_t word = byte(0) << 16 | byte(1) << 8 | byte(2);
    out += kDigits[word >> 18];
    out += kDigits[word >> 12 & 63];
    out += i + 1 < bytes.size() ? kDigits[word >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? kDigits[word & 63] : '=';
  }
  return out;
}

Json picture(const Grid& grid, const std::vector<uint8_t>& kept, const std::vector<float>& importance,
             int64_t most_cells) {
  assert(static_cast<int64_t>(kept.size()) == grid.blocks());
  int64_t merged = 1;
  const auto extent = [&](int64_t blocks) { return (blocks + merged - 1) / merged; };
  while (extent(grid.row_blocks()) * extent(grid.col_blocks()) > most_cells) ++merged;
  float low = 0;
  float high = 0;
  bool any = false;
  for (const float value : importance) {
    if (!std::isfinite(value)) continue;
    low = any ? std::min(low, value) : value;
    high = any ? std::max(high, value) : value;
    any = true;
  }
  const bool valued = merged == 1 && any && high > low;
  return {{"rows", extent(grid.row_blocks())},
          {"cols", extent(grid.col_blocks())},
          {"merged", merged},
          {"low", valued ? rounded(low) : Json(nullptr)},
          {"high", valued ? rounded(high) : Json(nullptr)},
          {"cells", base64(merged == 1 ? single_blocks(kept, importance, low, high)
                                       : merged_blocks(grid, kept, merged))}};
}

double churn(const std::vector<uint8_t>& before, const std::vector<uint8_t>& now) {
  int64_t kept = 0;
  int64_t fresh = 0;
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i] == 0) continue;
    ++kept;
    fresh += i < before.size() && before[i] != 0 ? 0 : 1;
  }
  return kept == 0 ? 0 : static_cast<double>(fresh) / static_cast<double>(kept);
}

}  // namespace hewn::report

#include "hewn/core/grid.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "hewn/core/error.h"

namespace hewn {
namespace {

int64_t parse_extent(std::string_view text, const std::string& whole) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc() || stop != end || value < 1) {
    throw Error(str("block \"", whole, "\": expected a size such as 16 or 8x32"));
  }
  return value;
}

}  // namespace

BlockShape parse_block(const std::string& text) {
  const std::string_view view = text;
  const size_t x = view.find('x');
  if (x == std::string_view::npos) {
    const int64_t edge = parse_extent(view, text);
    return {edge, edge};
  }
  return {parse_extent(view.substr(0, x), text), parse_extent(view.substr(x + 1), text)};
}

std::string to_string(const BlockShape& block) { return str(block.rows, "x", block.cols); }

std::string short_text(const BlockShape& block) {
  return block.rows == block.cols ? str(block.rows) : to_string(block);
}

int64_t Grid::elements_of(int64_t index) const {
  const int64_t top = index / col_blocks() * block.rows;
  const int64_t col_block = index % col_blocks();
  return std::min(block.rows, rows - top) * (last_col(col_block) - first_col(col_block));
}

int64_t blocks_to_keep(int64_t blocks, double sparsity, Rounding rounding) {
  // The nudge keeps products such as (1 - 0.9) * 100, a whole number in exact arithmetic, from losing a
  // block.
  const double exact = (1.0 - sparsity) * static_cast<double>(blocks) + 1e-9;
  const double rounded = std::floor(rounding == Rounding::kNearest ? exact + 0.5 : exact);
  return std::clamp<int64_t>(static_cast<int64_t>(rounded), 1, blocks);
}

}  // namespace hewn

#include "hewn/kernels/matrix/matrix_weight.h"

#include <algorithm>
#include <numeric>

namespace hewn::kernels {
namespace {

// Cycles of a step and sixteen columns on Sapphire Rapids: the instruction takes sixteen however few rows it
// has; a loose step copies its rows first.
constexpr double kDirectCost = 16;
constexpr double kLooseCost = 80;
/// Rows from which a short step is less to do than bringing them together.
constexpr int64_t kFewestDirect = 4;

/// Which words of the input meet a weight of a tile.
std::vector<uint8_t> rows_met(const WordMatrix& m, int64_t output) {
  std::vector<uint8_t> out(static_cast<size_t>(m.inputs), 0);
  for (int64_t j = output; j < std::min(output + MatrixWeight::kOutputs, m.outputs); ++j) {
    const uint32_t* row = m.words + j * m.inputs;
    for (int64_t i = 0; i < m.inputs; ++i) out[static_cast<size_t>(i)] |= row[i] != 0 ? 1 : 0;
  }
  return out;
}

}  // namespace

MatrixWeight::MatrixWeight(const WordMatrix& matrix) : MatrixWeight(matrix, 4) {
  MatrixWeight other(matrix, 8);
  if (other.cost() < cost()) *this = std::move(other);
}

MatrixWeight::MatrixWeight(const WordMatrix& matrix, int64_t few)
    : outputs_(matrix.outputs), tap_words_(matrix.tap_words), few_(few) {
  for (int64_t output = 0; output < matrix.outputs; output += kOutputs) add_tile(matrix, output);
}

void MatrixWeight::add_tile(const WordMatrix& matrix, int64_t output) {
  Tile tile;
  tile.output = static_cast<int32_t>(output);
  tile.first = static_cast<int32_t>(steps_.size());
  const std::vector<uint8_t> met = rows_met(matrix, output);
  std::vector<int32_t> loose;
  std::vector<int32_t> run;  // short steps one behind the other
  const auto end_run = [&] {
    const std::span<const int32_t> all(run);
    for (size_t at = 0; at < all.size();) {
      const size_t rows = all.size() - at >= kRows ? kRows : static_cast<size_t>(few_);
      add_step(matrix, output, all.subspan(at, rows), false);
      at += rows;
    }
    run.clear();
  };
  for (int64_t tap = 0; tap < matrix.inputs; tap += matrix.tap_words) {
    for (int64_t at = 0; at < matrix.tap_words; at += few_) {
      const int64_t here = std::min(few_, matrix.tap_words - at);
      const auto first = met.begin() + tap + at;
      if (here == few_ && std::count(first, first + here, 1) >= kFewestDirect) {
        for (int64_t i = 0; i < here; ++i) run.push_back(static_cast<int32_t>(tap + at + i));
        continue;
      }
      end_run();
      for (int64_t i = 0; i < here; ++i) {
        if (first[i] != 0) loose.push_back(static_cast<int32_t>(tap + at + i));
      }
    }
    end_run();
  }
  tile.direct = static_cast<int32_t>(steps_.size()) - tile.first;
  loose.resize((loose.size() + kRows - 1) / kRows * kRows, kNoRow);
  for (size_t at = 0; at < loose.size(); at += kRows) {
    add_step(matrix, output, std::span<const int32_t>(loose).subspan(at, kRows), true);
    ++tile.loose;
  }
  tiles_.push_back(tile);
}

void MatrixWeight::add_step(const WordMatrix& matrix, int64_t output, std::span<const int32_t> rows,
                            bool loose) {
  steps_.push_back({static_cast<int64_t>(weights_.size()), static_cast<int32_t>(inputs_.size()),
                    static_cast<int32_t>(rows.size()), loose});
  inputs_.insert(inputs_.end(), rows.begin(), loose ? rows.end() : rows.begin() + 1);
  for (int64_t j = output; j < output + kOutputs; ++j) {
    for (const int32_t row : rows) {
      const bool there = j < matrix.outputs && row != kNoRow;
      weights_.push_back(there ? matrix.words[j * matrix.inputs + row] : 0);
    }
  }
}

double MatrixWeight::cost() const {
  return std::accumulate(tiles_.begin(), tiles_.end(), 0.0, [](double sum, const Tile& tile) {
    return sum + kDirectCost * tile.direct + kLooseCost * tile.loose;
  });
}

std::vector<int32_t> matrix_offsets(const MatrixWeight& weight, std::span<const int64_t> taps,
                                    int64_t stride) {
  std::vector<int32_t> out;
  out.reserve(weight.inputs().size());
  const int64_t words = weight.tap_words();
  for (const int32_t input : weight.inputs()) {
    const int64_t tap = input == MatrixWeight::kNoRow ? 0 : taps[static_cast<size_t>(input / words)];
    out.push_back(input == MatrixWeight::kNoRow ? MatrixWeight::kNoOffset
                                                : static_cast<int32_t>(tap + input % words * stride));
  }
  return out;
}

}  // namespace hewn::kernels

#include "hewn/kernels/int8/byte_weight.h"

#include <algorithm>
#include <array>

#include "hewn/kernels/int8/words.h"

namespace hewn::kernels {
namespace {

/// A narrow tile takes so much longer for as many products.
constexpr double kNarrowCost = 1.2;
constexpr int64_t kNarrow = 4;
constexpr int64_t kWide = 8;

/// The weights of one output that meet one word of the input.
using Four = std::array<int8_t, 4>;

Four four_at(const ByteMatrix& m, int64_t input, int64_t output) {
  const int64_t words = word_rows(m.channels);
  const int64_t channel = input % words * kWordChannels;
  Four out{};
  if (output >= m.outputs) return out;
  const int8_t* from = m.values + (output * m.taps + input / words) * m.channels + channel;
  std::copy_n(from, std::min(kWordChannels, m.channels - channel), out.begin());
  return out;
}

uint32_t word_in(const Four& four) {
  uint32_t out = 0;
  for (size_t i = 0; i < 4; ++i) {
    out |= static_cast<uint32_t>(static_cast<uint8_t>(four[i])) << (8 * i);
  }
  return out;
}

/// Whether 255 times a pair of weights of one sign exceeds 16 bits.
bool too_large(const Four& four) {
  const auto pair = [](int a, int b) {
    return std::max(a, 0) + std::max(b, 0) > 128 || std::min(a, 0) + std::min(b, 0) < -128;
  };
  return pair(four[0], four[1]) || pair(four[2], four[3]);
}

/// Which words of the input meet a weight of the outputs [output, output + width).
std::vector<int32_t> inputs_of(const ByteMatrix& m, int64_t output, int64_t width) {
  std::vector<int32_t> out;
  const int64_t words = m.taps * word_rows(m.channels);
  for (int64_t input = 0; input < words; ++input) {
    for (int64_t j = output; j < std::min(output + width, m.outputs); ++j) {
      if (four_at(m, input, j) == Four{}) continue;
      out.push_back(static_cast<int32_t>(input));
      break;
    }
  }
  return out;
}

double cost_of(const ByteMatrix& m, int64_t width) {
  double out = 0;
  for (int64_t output = 0; output < m.outputs; output += width) {
    out += static_cast<double>(inputs_of(m, output, width).size()) * static_cast<double>(width);
  }
  return out;
}

}  // namespace

ByteWeight::ByteWeight(const ByteMatrix& matrix, bool split, bool wide)
    : outputs_(matrix.outputs),
      channels_(matrix.channels),
      dense_products_(matrix.outputs * matrix.taps * matrix.channels) {
  const bool narrow = kNarrowCost * cost_of(matrix, kNarrow) < cost_of(matrix, kWide);
  add_tiles(matrix, narrow ? kNarrow : kWide, split);
  sums_.assign(static_cast<size_t>((matrix.outputs + kWide - 1) / kWide * kWide), 0);
  const int64_t rows = matrix.taps * matrix.channels;
  for (int64_t j = 0; j < matrix.outputs; ++j) {
    for (int64_t i = 0; i < rows; ++i) sums_[static_cast<size_t>(j)] += matrix.values[j * rows + i];
  }
  if (!wide) return;
  const int64_t inputs = matrix.taps * word_rows(matrix.channels);
  std::vector<uint32_t> words;
  words.reserve(static_cast<size_t>(matrix.outputs * inputs));
  for (int64_t j = 0; j < matrix.outputs; ++j) {
    for (int64_t i = 0; i < inputs; ++i) words.push_back(word_in(four_at(matrix, i, j)));
  }
  matrix_ = std::make_shared<MatrixWeight>(
      WordMatrix{words.data(), matrix.outputs, inputs, word_rows(matrix.channels)});
}

bool ByteWeight::matrix_pays() const {
  // Cycles of a word and sixteen columns in the tile loop on Sapphire Rapids: two products of vectors in
  // each, and a fourth of the time for all else.
  constexpr double kWordCost = 0.625;
  return matrix_ != nullptr && matrix_->cost() < kWordCost * static_cast<double>(weights_.size());
}

void ByteWeight::add_tiles(const ByteMatrix& matrix, int64_t width, bool split) {
  std::vector<int32_t> before;
  for (int64_t output = 0; output < matrix.outputs; output += width) {
    const int64_t outputs = matrix.outputs - output <= kNarrow ? kNarrow : width;
    const std::vector<int32_t> inputs = inputs_of(matrix, output, outputs);
    Tile tile;
    tile.output = static_cast<int32_t>(output);
    tile.outputs = static_cast<int32_t>(outputs);
    tile.first = static_cast<int64_t>(inputs_.size());
    tile.weights = static_cast<int64_t>(weights_.size());
    tile.same_inputs = output > 0 && inputs == before;
    for (const int32_t input : inputs) {
      std::array<Four, kWide> fours{};
      bool cut = false;
      for (int64_t j = 0; j < outputs; ++j) {
        fours[static_cast<size_t>(j)] = four_at(matrix, input, output + j);
        cut = cut || (split && too_large(fours[static_cast<size_t>(j)]));
      }
      // The first and third weight, then the others: each is then alone in its pair.
      for (int part = 0; part < (cut ? 2 : 1); ++part) {
        inputs_.push_back(input);
        for (int64_t j = 0; j < outputs; ++j) {
          Four four = fours[static_cast<size_t>(j)];
          if (cut) four[part == 0 ? 1 : 0] = four[part == 0 ? 3 : 2] = 0;
          weights_.push_back(word_in(four));
        }
      }
    }
    tile.count = static_cast<int64_t>(inputs_.size()) - tile.first;
    tiles_.push_back(tile);
    before = inputs;
  }
}

int64_t ByteWeight::bytes() const {
  return static_cast<int64_t>((weights_.size() + inputs_.size() + sums_.size()) * sizeof(uint32_t) +
                              tiles_.size() * sizeof(Tile));
}

}  // namespace hewn::kernels

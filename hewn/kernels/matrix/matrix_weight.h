#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hewn/kernels/aligned.h"

namespace hewn::kernels {

/// Weights in words of 32 bits, as they meet words of the input: four of 8 bits or two of 16. Inputs are
/// taps x words of a tap.
struct WordMatrix {
  const uint32_t* words = nullptr;  // outputs x inputs
  int64_t outputs = 0;
  int64_t inputs = 0;
  int64_t tap_words = 1;
};

/// Such weights for instructions that multiply small matrices, sixteen outputs at a time: for each of these
/// tiles a list of steps, sixteen outputs by some rows of words. The rows of a direct step lie one behind the
/// other in the input; those of a loose one are brought together first.
class MatrixWeight {
 public:
  static constexpr int64_t kOutputs = 16;
  static constexpr int64_t kRows = 16;   // of words in a long or loose step
  static constexpr int32_t kNoRow = -1;  // of a loose step: zeros
  static constexpr int32_t kNoOffset = INT32_MIN;

  struct Step {
    int64_t weights = 0;  // where its words start: [output][row]
    int32_t first = 0;    // entry of inputs(): of its first row, or of all of them in a loose step
    int32_t rows = 0;     // kRows or few()
    bool loose = false;
  };
  struct Tile {
    int32_t output = 0;
    int32_t first = 0;   // step
    int32_t direct = 0;  // steps, which come first
    int32_t loose = 0;
  };

  explicit MatrixWeight(const WordMatrix& matrix);

  const std::vector<Tile>& tiles() const { return tiles_; }
  int64_t tile_count() const { return static_cast<int64_t>(tiles_.size()); }
  const std::vector<Step>& steps() const { return steps_; }
  /// Words of the input, or kNoRow.
  const std::vector<int32_t>& inputs() const { return inputs_; }
  const uint32_t* weights(const Step& step) const { return weights_.data() + step.weights; }
  /// Rows of a short step: 4 or 8, whichever leaves less to do.
  int64_t few() const { return few_; }
  int64_t outputs() const { return outputs_; }
  int64_t tap_words() const { return tap_words_; }
  /// Words that are multiplied in a column.
  int64_t words() const { return static_cast<int64_t>(weights_.size()); }
  /// What sixteen columns take, in cycles of instructions that take sixteen each.
  double cost() const;

 private:
  MatrixWeight(const WordMatrix& matrix, int64_t few);
  void add_tile(const WordMatrix& matrix, int64_t output);
  void add_step(const WordMatrix& matrix, int64_t output, std::span<const int32_t> rows, bool loose);

  int64_t outputs_ = 0;
  int64_t tap_words_ = 1;
  int64_t few_ = 4;
  std::vector<Tile> tiles_;
  std::vector<Step> steps_;
  std::vector<int32_t> inputs_;
  AlignedVector<uint32_t> weights_;
};

/// Where the inputs of a weight are: a tap's words lie taps[tap] words behind the output's place, rows of
/// words `stride` apart; kNoOffset where there is no row.
std::vector<int32_t> matrix_offsets(const MatrixWeight& weight, std::span<const int64_t> taps,
                                    int64_t stride);

}  // namespace hewn::kernels

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hewn/kernels/aligned.h"
#include "hewn/kernels/matrix/matrix_weight.h"

namespace hewn::kernels {

/// A weight of whole numbers from -127 to 127: outputs x taps x channels.
struct ByteMatrix {
  const int8_t* values = nullptr;
  int64_t outputs = 0;
  int64_t taps = 1;
  int64_t channels = 0;
};

/// So many products of bytes fit a sum of 32 bits.
constexpr int64_t kMostByteRows = int64_t{1} << 16;

/// Such a weight in the order in which the tile loop reads it: tile by tile the words of four weights that
/// meet a word of the input, where any of them is not zero. So zeros are left out in pieces of four channels
/// by eight outputs, or by four where that saves time, whatever blocks they came in.
class ByteWeight {
 public:
  struct Tile {
    int32_t output = 0;   // first output, a multiple of four
    int32_t outputs = 0;  // 4 or 8; those behind the last output are zeros
    int64_t first = 0;    // word of the input
    int64_t count = 0;
    int64_t weights = 0;       // where its words start
    bool same_inputs = false;  // reads what the tile before it reads
  };

  /// `split`: words in which a pair of weights could exceed 16 bits are cut in two, for instructions that add
  /// pairs in 16 bits. `wide`: with a form for small matrices too.
  ByteWeight(const ByteMatrix& matrix, bool split, bool wide = false);

  const std::vector<Tile>& tiles() const { return tiles_; }
  int64_t tile_count() const { return static_cast<int64_t>(tiles_.size()); }
  /// Words of the input that tiles read: tap * word_rows(channels) + word of the tap.
  const std::vector<int32_t>& inputs() const { return inputs_; }
  /// Of a tile: [input][output].
  const uint32_t* weights(const Tile& tile) const { return weights_.data() + tile.weights; }
  /// Of each output, and zeros up to the end of the last tile.
  const std::vector<int32_t>& sums() const { return sums_; }
  int64_t outputs() const { return outputs_; }
  int64_t channels() const { return channels_; }
  /// Multiplications of a column.
  int64_t products() const { return 4 * static_cast<int64_t>(weights_.size()); }
  /// The same if nothing were left out.
  int64_t dense_products() const { return dense_products_; }
  int64_t bytes() const;
  /// The same weights for instructions that multiply small matrices; null where it was made without.
  const MatrixWeight* matrix() const { return matrix_.get(); }
  /// Whether many columns are then less to do.
  bool matrix_pays() const;

 private:
  void add_tiles(const ByteMatrix& matrix, int64_t width, bool split);

  int64_t outputs_ = 0;
  int64_t channels_ = 0;
  int64_t dense_products_ = 0;
  std::vector<Tile> tiles_;
  std::vector<int32_t> inputs_;
  AlignedVector<uint32_t> weights_;
  std::vector<int32_t> sums_;
  std::shared_ptr<const MatrixWeight> matrix_;
};

}  // namespace hewn::kernels

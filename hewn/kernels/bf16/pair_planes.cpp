#include "hewn/kernels/bf16/pair_planes.h"

#include <vector>

#include "hewn/kernels/bf16/pair_sets.h"

namespace hewn::kernels {
namespace {

/// All supported sets, the fastest first.
const std::vector<PairMachine>& pair_machines() {
  static const std::vector<PairMachine> all = [] {
    std::vector<PairMachine> out;
#if defined(__x86_64__)
    if (has_pairs_amx()) out.push_back(pairs_amx());
    if (has_pairs_avx512()) out.push_back(pairs_avx512());
#endif
    return out;
  }();
  return all;
}

/// On Sapphire Rapids vdpbf16ps does 43 products in the time in which fp32 does 78: there it is no gain.
/// AMD's Zen 5 does 220 where fp32 does 120.
bool gains() {
#if defined(__x86_64__)
  return has_pairs_amx() || (has_pairs_avx512() && __builtin_cpu_is("amd") != 0);
#else
  return false;
#endif
}

}  // namespace

const PairMachine* pair_machine() {
  static const bool has = gains();
  return has ? pair_machines().data() : nullptr;
}
int pair_machine_count() { return static_cast<int>(pair_machines().size()); }
const PairMachine& pair_machine_at(int index) { return pair_machines().at(static_cast<size_t>(index)); }

MatrixWeight pair_weight(const float* values, int64_t outputs, int64_t taps, int64_t channels) {
  const int64_t rows = pair_rows(channels);
  std::vector<uint32_t> words;
  words.reserve(static_cast<size_t>(outputs * taps * rows));
  const auto half = [&](int64_t line, int64_t c) {
    const uint32_t bits = c < channels ? std::bit_cast<uint32_t>(values[line * channels + c]) >> 16 : 0;
    return bits == 0x8000U ? 0U : bits;  // a zero is left out, whatever its sign
  };
  for (int64_t line = 0; line < outputs * taps; ++line) {
    for (int64_t r = 0; r < rows; ++r) words.push_back(half(line, 2 * r) | half(line, 2 * r + 1) << 16);
  }
  return MatrixWeight({words.data(), outputs, taps * rows, rows});
}

void multiply_pairs(const PairProduct& product, int64_t first, int64_t last, int64_t begin, int64_t end) {
  product.machine->multiply(product, first, last, begin, end);
}

void multiply_pairs_of_one(const PairProduct& product, int64_t begin, int64_t end) {
  product.machine->multiply_of_one(product, begin, end);
}

}  // namespace hewn::kernels

#include "hewn/runtime/look_up.h"

#include <algorithm>

#include "hewn/kernels/packed.h"

namespace hewn::runtime {

LookUp::LookUp(Table table, const Node& node)
    : width_(node.width), vocabularies_(node.vocabularies), first_(1, 0) {
  for (const int64_t size : vocabularies_) first_.push_back(first_.back() + size);
  if (!table.bf16) {
    values_ = std::move(table.values);
    return;
  }
  halves_.resize(table.values.size());
  std::transform(table.values.begin(), table.values.end(), halves_.begin(), kernels::bf16_from);
}

int64_t LookUp::row(size_t field, float number) const {
  if (!(number >= 0 && number < static_cast<float>(vocabularies_[field]))) return -1;
  const auto value = static_cast<int64_t>(number);
  return static_cast<float>(value) == number ? first_[field] + value : -1;
}

void LookUp::run(const float* numbers, int64_t batch, float* out, uint8_t* known) const {
  const size_t fields = vocabularies_.size();
  for (int64_t n = 0; n < batch; ++n) {
    for (size_t f = 0; f < fields; ++f, out += width_) {
      const int64_t found = row(f, *numbers++);
      if (found < 0) {
        known[n] = 0;
        std::fill_n(out, width_, 0.0F);
      } else if (halves_.empty()) {
        std::copy_n(values_.data() + found * width_, width_, out);
      } else {
        std::transform(halves_.data() + found * width_, halves_.data() + (found + 1) * width_, out,
                       [](uint16_t half) { return kernels::widen(half); });
      }
    }
  }
}

}  // namespace hewn::runtime

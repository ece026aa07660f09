#pragma once

#include <cstdint>
#include <vector>

#include "hewn/runtime/model_file.h"

namespace hewn::runtime {

/// The tables of one embedding, ready to be read: as 32-bit floats or, from a file of bf16, as bf16 numbers.
class LookUp {
 public:
  LookUp(Table table, const Node& node);

  /// Numbers that come out for one sample.
  int64_t width() const { return static_cast<int64_t>(first_.size() - 1) * width_; }
  /// How many values each field takes.
  const std::vector<int64_t>& vocabularies() const { return vocabularies_; }

  /// The rows of a batch's values, each field's behind the one before: out[batch][width()]. Inputs come from
  /// outside: zeros stand for what is not the number of one of the field's values, and known[sample] becomes
  /// 0.
  void run(const float* numbers, int64_t batch, float* out, uint8_t* known) const;

 private:
  int64_t row(size_t field, float number) const;

  int64_t width_;                      // of a row
  std::vector<int64_t> vocabularies_;  // of each field
  std::vector<int64_t> first_;  // row of each field's value 0; behind the last field the number of rows
  std::vector<float> values_;   // one of the two is empty
  std::vector<uint16_t> halves_;
};

}  // namespace hewn::runtime

#pragma once

#include "hewn/kernels/int8/words.h"

namespace hewn::kernels::reference {

void to_words(const FourRows& rows, const ByteScale& bytes, uint32_t* words, int64_t count);
void sample_to_words(const float* channels, int64_t count, const ByteScale& bytes, uint32_t* words,
                     int64_t stride);
void samples_to_words(const float* samples, int64_t channels, int64_t count, const ByteScale& bytes,
                      uint32_t* words, int64_t stride);
void from_words(const uint32_t* words, int64_t lane, const ByteScale& bytes, float* row, int64_t count);
void max_of_words(const uint32_t* a, const uint32_t* b, uint32_t* to, int64_t count);
void add_up_words(const uint32_t* words, int64_t count, std::array<int64_t, 4>& sums);

}  // namespace hewn::kernels::reference

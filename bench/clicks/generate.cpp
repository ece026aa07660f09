// Writes a click log like Criteo's of so many bytes: the same columns, about the same shares of missing
// values, numbers of different values as in the Kaggle set, frequencies that fall with the rank.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "hewn/core/random.h"

namespace {

struct Field {
  double missing;
  double size;  // integers: logarithm of the largest; categories: how many values
};

constexpr std::array<Field, 13> kIntegers = {{{0.45, 5},
                                              {0, 7},
                                              {0.21, 8},
                                              {0.22, 4},
                                              {0.03, 13},
                                              {0.22, 9},
                                              {0.04, 6},
                                              {0, 5},
                                              {0.04, 8},
                                              {0.45, 1.5},
                                              {0.04, 4},
                                              {0.76, 3},
                                              {0.22, 7}}};
constexpr std::array<Field, 26> kCategories = {
    {{0, 1460},        {0, 583},         {0.034, 10131227}, {0.034, 2202608}, {0, 305},
     {0.12, 24},       {0, 12517},       {0, 633},          {0, 3},           {0, 93145},
     {0, 5683},        {0.034, 8351593}, {0, 3194},         {0, 27},          {0, 14992},
     {0.034, 5461306}, {0, 10},          {0, 5652},         {0.44, 2173},     {0.44, 4},
     {0.034, 7046547}, {0.76, 18},       {0, 15},           {0.034, 286181},  {0.44, 105},
     {0.44, 142572}}};

/// Words of one row, one after the other.
class Words {
 public:
  explicit Words(uint64_t row) : row_(row) {}
  uint32_t next() {
    if (used_ % 4 == 0) words_ = hewn::draw(0, hewn::Stream::kSynthetic, used_ / 4, row_);
    return words_[used_++ % 4];
  }

 private:
  uint64_t row_;
  uint64_t used_ = 0;
  std::array<uint32_t, 4> words_{};
};

void append_integer(std::string& out, uint64_t value) {
  std::array<char, 24> digits{};
  char* end = digits.data() + digits.size();
  char* begin = end;
  do {
    *--begin = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value > 0);
  out.append(begin, end);
}

void append_hex(std::string& out, uint32_t value) {
  for (int shift = 28; shift >= 0; shift -= 4) out.push_back("0123456789abcdef"[(value >> shift) & 0xf]);
}

void append_row(std::string& out, uint64_t row) {
  Words words(row);
  out.push_back(hewn::unit(words.next()) < 0.256 ? '1' : '0');
  for (const Field& field : kIntegers) {
    out.push_back('\t');
    const uint32_t word = words.next();
    if (hewn::unit(word) < field.missing) continue;
    append_integer(out, static_cast<uint64_t>(std::exp(field.size * hewn::unit(words.next())) - 1));
  }
  for (size_t c = 0; c < kCategories.size(); ++c) {
    out.push_back('\t');
    const double position = hewn::unit(words.next());
    const double missing = kCategories[c].missing;
    if (position < missing) continue;
    // Rank r with a probability of about 1 / r.
    const double u = (position - missing) / (1 - missing);
    const auto rank = static_cast<uint64_t>(std::exp(u * std::log(kCategories[c].size + 1)));
    append_hex(out, static_cast<uint32_t>((rank * 0x9e3779b97f4a7c15ULL + c * 0xd1342543de82ef95ULL) >> 32));
  }
  out.push_back('\n');
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: generate_clicks FILE BYTES\n";
    return 2;
  }
  std::FILE* file = std::fopen(argv[1], "wb");
  if (file == nullptr) return 1;
  const double bytes = std::atof(argv[2]);
  double written = 0;
  std::string buffer;
  for (uint64_t row = 0; written < bytes;) {
    buffer.clear();
    while (buffer.size() < (size_t{1} << 22)) append_row(buffer, row++);
    if (std::fwrite(buffer.data(), 1, buffer.size(), file) != buffer.size()) return 1;
    written += static_cast<double>(buffer.size());
  }
  return std::fclose(file) == 0 ? 0 : 1;
}

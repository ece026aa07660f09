// Pools over images of words: the largest byte is that of the largest number, and sums of bytes are exact. Of
// bf16 the largest is one too, and means are sums in double.
#include <algorithm>
#include <array>

#include "hewn/flow/builder.h"
#include "hewn/flow/lower/pool.h"
#include "hewn/kernels/bf16/pairs.h"
#include "hewn/kernels/int8/words.h"

namespace hewn::flow {
namespace {

using kernels::ByteScale;

struct WordLines {
  const uint32_t* in;
  int64_t in_line;
  uint32_t* out;
  int64_t out_line;
};

/// What is below all, and the larger of two words.
struct Largest {
  uint32_t least;
  void (*of)(const uint32_t* a, const uint32_t* b, uint32_t* to, int64_t count);
};
constexpr Largest kLargestByte = {0, kernels::max_of_words};
constexpr Largest kLargestHalf = {0xff80ff80U, kernels::max_of_pairs};

// Columns of the input that are looked at together; windows reach less far.
constexpr int64_t kSpan = 512;
// Words of the widest vector: what is in memory of our own is worked on in whole ones.
constexpr int64_t kVector = 16;

int64_t reach_of(const Slide& slide) { return (slide.kernel - 1) * slide.dilation + 1; }

/// The outputs [first, last) of line y: the largest of each column of the windows, then of their columns.
void max_of_line(const Window& window, const Largest& largest, const WordLines& lines, int64_t y,
                 Range outputs) {
  const auto [high, wide] = window;
  std::array<uint32_t, kSpan + kVector> best;
  std::array<uint32_t, kSpan + kVector> most;
  const int64_t start = wide.start(outputs.begin);
  const int64_t places = (outputs.end - outputs.begin - 1) * wide.stride + 1;
  const int64_t begin = std::max<int64_t>(start, 0);
  const int64_t end = std::min(wide.in, start + places - 1 + reach_of(wide));
  const int64_t whole = (places + kVector - 1) / kVector * kVector;
  std::fill_n(best.begin(), whole - 1 + reach_of(wide), largest.least);
  uint32_t* columns = best.data() + (begin - start);
  for (int64_t tap = high.first_tap(y); tap < high.last_tap(y); ++tap) {
    const uint32_t* line = lines.in + (high.start(y) + tap * high.dilation) * lines.in_line;
    if (tap == high.first_tap(y)) {
      std::copy_n(line + begin, end - begin, columns);
    } else {
      largest.of(columns, line + begin, columns, end - begin);
    }
  }
  if (wide.kernel == 1) std::copy_n(best.begin(), whole, most.begin());
  for (int64_t tap = 1; tap < wide.kernel; ++tap) {
    const uint32_t* so_far = tap == 1 ? best.data() : most.data();
    largest.of(so_far, best.data() + tap * wide.dilation, most.data(), whole);
  }
  uint32_t* out = lines.out + y * lines.out_line + outputs.begin;
  for (int64_t x = 0; x < outputs.end - outputs.begin; ++x) {
    out[x] = most[static_cast<size_t>(x * wide.stride)];
  }
}

void max_pool_words(const Window& window, const Largest& largest, const WordLines& lines) {
  const int64_t together = (kSpan - reach_of(window.wide)) / window.wide.stride + 1;
  for (int64_t y = 0; y < window.high.out; ++y) {
    for (int64_t x = 0; x < window.wide.out; x += together) {
      max_of_line(window, largest, lines, y, {x, std::min(window.wide.out, x + together)});
    }
  }
}

void lower_max(Builder& builder, const Node& node) {
  const int32_t x = node.inputs[0];
  const int32_t from = builder.words(x, 1);
  const int32_t to = builder.new_words(node.outputs[0], 1);
  const Planes in = builder.word_planes(x, 1);
  const Planes out = builder.word_planes(node.outputs[0], 1);
  const Window window = pool_window(builder, node);
  const Largest largest = builder.halves(x) ? kLargestHalf : kLargestByte;
  builder.add({.what = to_string(node) + (builder.halves(x) ? ": bf16" : ": int8"),
               .reads = {from},
               .writes = {to},
               .run =
                   [=](const Memory& memory, int64_t part, int64_t parts) {
                     const auto* base = static_cast<const uint32_t*>(memory.at(from)) + in.lead;
                     auto* result = static_cast<uint32_t*>(memory.at(to)) + out.lead;
                     const Range range = share(in.channels * in.images, part, parts);
                     for (int64_t i = range.begin; i < range.end; ++i) {
                       const int64_t c = i / in.images;
                       const int64_t n = i % in.images;
                       max_pool_words(window, largest,
                                      {base + c * in.stride + n * in.plane, in.line,
                                       result + c * out.stride + n * out.plane, out.line});
                     }
                   },
               .work = in.channels * in.images * window.high.out * window.wide.out * window.high.kernel});
}

/// One image's means of the four channels of a row of words.
void means_of(const Planes& in, const uint32_t* first, const ByteScale& bytes, std::array<float, 4>& means) {
  std::array<int64_t, 4> sums{};
  for (int64_t y = 0; y < in.height; ++y) kernels::add_up_words(first + y * in.line, in.width, sums);
  const int64_t pixels = in.height * in.width;
  for (size_t b = 0; b < 4; ++b) {
    means[b] = static_cast<float>(double{bytes.scale} * static_cast<double>(sums[b] - pixels * bytes.zero) /
                                  static_cast<double>(pixels));
  }
}

void means_of_halves(const Planes& in, const uint32_t* first, std::array<float, 4>& means) {
  std::array<double, 2> sums{};
  for (int64_t y = 0; y < in.height; ++y) kernels::add_up_pairs(first + y * in.line, in.width, sums);
  const auto pixels = static_cast<double>(in.height * in.width);
  for (size_t b = 0; b < 2; ++b) means[b] = static_cast<float>(sums[b] / pixels);
}

void lower_mean(Builder& builder, const Node& node) {
  const int32_t x = node.inputs[0];
  const int32_t from = builder.words(x, 1);
  const int32_t to = builder.new_rows(node.outputs[0], 1);
  const Planes in = builder.word_planes(x, 1);
  const Planes out = builder.planes(node.outputs[0], 1);
  const bool halves = builder.halves(x);
  const ByteScale bytes = halves ? ByteScale{} : *builder.bytes(x);
  const int64_t channels = halves ? kernels::kPairChannels : kernels::kWordChannels;
  builder.add({.what = to_string(node) + (halves ? ": of bf16" : ": of int8"),
               .reads = {from},
               .writes = {to},
               .run =
                   [=](const Memory& memory, int64_t part, int64_t parts) {
                     const auto* base = static_cast<const uint32_t*>(memory.at(from)) + in.lead;
                     float* result = memory.floats(to) + out.lead;
                     const Range range = share(in.channels * in.images, part, parts);
                     std::array<float, 4> means{};
                     for (int64_t i = range.begin; i < range.end; ++i) {
                       const int64_t row = i / in.images;
                       const int64_t n = i % in.images;
                       const uint32_t* first = base + row * in.stride + n * in.plane;
                       halves ? means_of_halves(in, first, means) : means_of(in, first, bytes, means);
                       const int64_t c = row * channels;
                       for (int64_t b = 0; b < std::min(channels, out.channels - c); ++b) {
                         result[(c + b) * out.stride + n * out.plane] = means[static_cast<size_t>(b)];
                       }
                     }
                   },
               .work = in.floats()});
}

}  // namespace

bool plans_byte_pool(Builder& builder, const Node& node) {
  if (node.inputs.empty() || node.inputs[0] == kNone || !builder.in_words(node.inputs[0], 1)) return false;
  if (node.op == "AveragePool" || !plans_pool(builder, node)) return false;
  if (node.op != "MaxPool") return true;
  if (!builder.held_alike(node.inputs[0], node.outputs[0])) return false;
  const ByteScale* out = builder.bytes(node.outputs[0]);
  return (out == nullptr || *out == *builder.bytes(node.inputs[0])) &&
         reach_of(pool_window(builder, node).wide) <= kSpan;
}

void lower_byte_pool(Builder& builder, int32_t number) {
  const Node& node = builder.graph().nodes[static_cast<size_t>(number)];
  node.op == "MaxPool" ? lower_max(builder, node) : lower_mean(builder, node);
}

}  // namespace hewn::flow

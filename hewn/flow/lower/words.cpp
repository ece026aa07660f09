// Values in words, four numbers of eight bits or two of sixteen in each, and the steps between them and
// floats.
#include "hewn/kernels/int8/words.h"

#include "hewn/flow/builder.h"
#include "hewn/kernels/bf16/pair_planes.h"

namespace hewn::flow {
namespace {

using kernels::ByteScale;

/// How many channels a word has, and what is made of floats.
struct WordKind {
  bool pairs = false;
  ByteScale scale;

  int64_t channels() const { return pairs ? kernels::kPairChannels : kernels::kWordChannels; }
  /// Lines of the channels of a word; null where one is not there.
  void to_words(const kernels::FourRows& lines, uint32_t* words, int64_t count) const {
    if (pairs) return kernels::to_pairs({lines[0], lines[1]}, words, count);
    kernels::to_words(lines, scale, words, count);
  }
  void from_words(const uint32_t* words, int64_t lane, float* row, int64_t count) const {
    if (pairs) return kernels::from_pairs(words, lane, row, count);
    kernels::from_words(words, lane, scale, row, count);
  }
  void samples(const float* from, int64_t channels, Range columns, uint32_t* words, int64_t stride) const {
    const int64_t count = columns.end - columns.begin;
    const float* first = from + columns.begin * channels;
    if (pairs) return kernels::samples_to_pairs(first, channels, count, words + columns.begin, stride);
    kernels::samples_to_words(first, channels, count, scale, words + columns.begin, stride);
  }
};

/// Channels of floats, from lines of images, to the words of one row.
void images_to_words(const Planes& to, const Lines& from, int64_t channels, const WordKind& kind,
                     uint32_t* base, Range rows) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    for (int64_t n = 0; n < to.images; ++n) {
      for (int64_t y = 0; y < to.height; ++y) {
        kernels::FourRows lines{};
        for (int64_t b = 0; b < kind.channels(); ++b) {
          const int64_t c = row * kind.channels() + b;
          if (c >= channels) continue;
          lines[static_cast<size_t>(b)] = from.first + c * from.channel + n * from.image + y * from.line;
        }
        kind.to_words(lines, base + row * to.stride + to.lead + n * to.plane + y * to.line, to.width);
      }
    }
  }
}

}  // namespace

const kernels::ByteScale* Builder::bytes(int32_t value) const {
  const auto found = graph().bytes.find(value);
  return found == graph().bytes.end() ? nullptr : &found->second;
}

bool Builder::halves(int32_t value) const {
  return kernels::pair_machine() != nullptr && graph().halves.contains(value) && bytes(value) == nullptr;
}

bool Builder::held_alike(int32_t a, int32_t b) const {
  return (bytes(a) != nullptr && bytes(b) != nullptr) || (halves(a) && halves(b));
}

uint32_t Builder::blank_word(int32_t value) const {
  return halves(value) ? 0 : kernels::word_of(bytes(value)->zero);
}

Planes Builder::word_planes(int32_t value, int64_t axis) {
  Planes out = planes(value, axis);
  out.channels = halves(value) ? kernels::pair_rows(out.channels) : kernels::word_rows(out.channels);
  return out;
}

int32_t Builder::new_words(int32_t value, int64_t axis) {
  return words_slot_[{value, axis}] = new_slot({.spec = spec(value), .planes = word_planes(value, axis)});
}

void Builder::add_to_words(int32_t value, int64_t axis, int32_t to, bool bordered) {
  const Planes planes_to = word_planes(value, axis);
  const Planes whole = planes(value, axis);
  const WordKind kind{halves(value), halves(value) ? ByteScale{} : *bytes(value)};
  const uint32_t blank = blank_word(value);
  const bool images = rank(value) == 4 && axis == 1;
  const bool samples = !images && !planes_slot_.contains({value, axis});
  const bool plain_images = images && !planes_slot_.contains({value, axis});
  const int32_t from = samples || plain_images ? plain(value) : planes_slot_.at({value, axis});
  add({.what = "words of " + graph().name(value),
       .reads = {from},
       .writes = {to},
       .run =
           [=](const Memory& memory, int64_t part, int64_t parts) {
             auto* out = static_cast<uint32_t*>(memory.at(to));
             float* in = memory.floats(from);
             if (samples) {
               const Range columns = share(whole.images, part, parts);
               kind.samples(in, whole.channels, columns, out + planes_to.lead, planes_to.stride);
               return;
             }
             const Range rows = share(planes_to.channels, part, parts);
             // What is between the pixels of planes is theirs: a row of them is one line.
             Planes shape = planes_to;
             Lines lines = plain_images ? lines_of_plain(whole, in) : lines_of(whole, in);
             if (!plain_images) {
               shape.width = whole.columns();
               shape.images = shape.height = 1;
             }
             images_to_words(shape, lines, whole.channels, kind, out, rows);
             if (bordered) fill_border(planes_to, out, blank, rows);
           },
       .work = spec(value).elements()});
}

int32_t Builder::words(int32_t value, int64_t axis, bool bordered) {
  const auto found = words_slot_.find({value, axis});
  if (found == words_slot_.end()) {
    const int32_t to = new_words(value, axis);
    plan.slots[static_cast<size_t>(to)].bordered = bordered;
    add_to_words(value, axis, to, bordered);
    return to;
  }
  const int32_t at = found->second;
  Slot& slot = plan.slots[static_cast<size_t>(at)];
  if (!bordered || slot.bordered) return at;
  slot.bordered = true;
  const Planes planes_at = *slot.planes;
  const uint32_t word = blank_word(value);
  add({.what = "border of " + graph().name(value),
       .reads = {at},
       .writes = {at},
       .run =
           [=](const Memory& memory, int64_t part, int64_t parts) {
             fill_border(planes_at, static_cast<uint32_t*>(memory.at(at)), word,
                         share(planes_at.channels, part, parts));
           },
       .work = planes_at.channels * planes_at.images * planes_at.height});
  return at;
}

int32_t Builder::rows_of_words(int32_t value, int64_t axis) {
  const int32_t from = words_slot_.at({value, axis});
  const Planes whole = planes(value, axis);
  const WordKind kind{halves(value), halves(value) ? ByteScale{} : *bytes(value)};
  const int32_t to = new_rows(value, axis);
  add({.what = "floats of " + graph().name(value),
       .reads = {from},
       .writes = {to},
       .run =
           [=](const Memory& memory, int64_t part, int64_t parts) {
             const Range channels = share(whole.channels, part, parts);
             const auto* words = static_cast<const uint32_t*>(memory.at(from));
             for (int64_t c = channels.begin; c < channels.end; ++c) {
               const int64_t row = c / kind.channels() * whole.stride + whole.lead;
               kind.from_words(words + row, c % kind.channels(),
                               memory.floats(to) + c * whole.stride + whole.lead, whole.columns());
             }
           },
       .work = spec(value).elements()});
  return to;
}

}  // namespace hewn::flow

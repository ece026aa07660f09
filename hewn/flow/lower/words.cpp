// Values in words, eight bits a number, and the steps between them and floats.
#include "hewn/kernels/int8/words.h"

#include "hewn/flow/builder.h"

namespace hewn::flow {
namespace {

using kernels::ByteScale;

/// Four channels of floats, from lines of images, to the words of one row.
void images_to_words(const Planes& to, const Lines& from, int64_t channels, const ByteScale& bytes,
                     uint32_t* base, Range rows) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    for (int64_t n = 0; n < to.images; ++n) {
      for (int64_t y = 0; y < to.height; ++y) {
        kernels::FourRows lines{};
        for (int64_t b = 0; b < kernels::kWordChannels; ++b) {
          const int64_t c = row * kernels::kWordChannels + b;
          if (c >= channels) continue;
          lines[static_cast<size_t>(b)] = from.first + c * from.channel + n * from.image + y * from.line;
        }
        kernels::to_words(lines, bytes, base + row * to.stride + to.lead + n * to.plane + y * to.line,
                          to.width);
      }
    }
  }
}

}  // namespace

const kernels::ByteScale* Builder::bytes(int32_t value) const {
  const auto found = graph().bytes.find(value);
  return found == graph().bytes.end() ? nullptr : &found->second;
}

Planes Builder::word_planes(int32_t value, int64_t axis) {
  Planes out = planes(value, axis);
  out.channels = kernels::word_rows(out.channels);
  return out;
}

int32_t Builder::new_words(int32_t value, int64_t axis) {
  return words_slot_[{value, axis}] = new_slot({.spec = spec(value), .planes = word_planes(value, axis)});
}

void Builder::add_to_words(int32_t value, int64_t axis, int32_t to, bool bordered) {
  const Planes planes_to = word_planes(value, axis);
  const Planes whole = planes(value, axis);
  const ByteScale scale = *bytes(value);
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
               for (int64_t i = columns.begin; i < columns.end; ++i) {
                 kernels::sample_to_words(in + i * whole.channels, whole.channels, scale,
                                          out + planes_to.lead + i, planes_to.stride);
               }
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
             images_to_words(shape, lines, whole.channels, scale, out, rows);
             if (bordered) fill_border(planes_to, out, kernels::word_of(scale.zero), rows);
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
  const uint32_t word = kernels::word_of(bytes(value)->zero);
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
  const ByteScale scale = *bytes(value);
  const int32_t to = new_rows(value, axis);
  add({.what = "floats of " + graph().name(value),
       .reads = {from},
       .writes = {to},
       .run =
           [=](const Memory& memory, int64_t part, int64_t parts) {
             const Range channels = share(whole.channels, part, parts);
             const auto* words = static_cast<const uint32_t*>(memory.at(from));
             for (int64_t c = channels.begin; c < channels.end; ++c) {
               const int64_t row = c / kernels::kWordChannels * whole.stride + whole.lead;
               kernels::from_words(words + row, c % kernels::kWordChannels, scale,
                                   memory.floats(to) + c * whole.stride + whole.lead, whole.columns());
             }
           },
       .work = spec(value).elements()});
  return to;
}

}  // namespace hewn::flow

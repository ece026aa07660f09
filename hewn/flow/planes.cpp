#include "hewn/flow/planes.h"

#include <algorithm>
#include <cstring>

#include "hewn/kernels/tile.h"

namespace hewn::flow {
namespace {

constexpr int64_t kVector = 16;  // floats of the widest vectors

int64_t round_up(int64_t size, int64_t step) { return (size + step - 1) / step * step; }

/// In planes of which the lines of all images lie side by side.
template <class T>
void fill_between_lines(const Planes& planes, T* first, T* end, T value) {
  for (int64_t y = 0; y < planes.height; ++y) {
    for (int64_t n = 0; n < planes.images; ++n) {
      T* line = first + y * planes.line + n * planes.plane;
      std::fill(line + planes.width, line + planes.plane, value);
    }
  }
  std::fill(first + planes.height * planes.line, end, value);
}

template <class T>
void fill_between(const Planes& planes, T* base, T value, Range rows) {
  for (int64_t c = rows.begin; c < rows.end; ++c) {
    T* row = base + c * planes.stride;
    T* first = row + planes.lead;
    std::fill(row, first, value);
    if (planes.by_lines()) {
      fill_between_lines(planes, first, row + planes.stride, value);
      continue;
    }
    for (int64_t n = 0; n < planes.images; ++n) {
      T* image = first + n * planes.plane;
      if (planes.line == planes.width + 1) {  // by far the most
        for (int64_t y = 0; y + 1 < planes.height; ++y) image[y * planes.line + planes.width] = value;
      }
      for (int64_t y = 0; y + 1 < planes.height && planes.line > planes.width + 1; ++y) {
        std::fill(image + y * planes.line + planes.width, image + (y + 1) * planes.line, value);
      }
      T* last = image + (planes.height - 1) * planes.line + planes.width;
      std::fill(last, n + 1 < planes.images ? image + planes.plane : row + planes.stride, value);
    }
  }
}

}  // namespace

Planes planes_of(int64_t channels, int64_t images, int64_t height, int64_t width, int64_t line, int64_t plane,
                 int64_t reach) {
  Planes out{channels, images, height, width, line, plane, round_up(reach, kVector), 1};
  if (images == 1 && plane == 1 && reach == 0) return out;  // a vector
  out.stride = round_up(out.lead + round_up(out.columns(), kernels::kColumnStep) + reach, kVector);
  // Rows a power of two apart share few lines of the cache: ResNet-50's 1x1 layers of 14 x 14 pixels took a
  // tenth longer with rows of 1 KiB.
  if (channels > 8 && out.stride % (4 * kVector) == 0) out.stride += kVector;
  return out;
}

void clear_border(const Planes& planes, float* base, int64_t begin, int64_t end) {
  fill_between(planes, base, 0.0F, {begin, end});
}

void fill_border(const Planes& planes, uint32_t* base, uint32_t word, Range rows) {
  fill_between(planes, base, word, rows);
}

Lines lines_of(const Planes& planes, float* base) {
  return {base + planes.lead, planes.stride, planes.plane, planes.line};
}

Lines lines_of_plain(const Planes& planes, float* base) {
  const int64_t pixels = planes.height * planes.width;
  return {base, pixels, planes.channels * pixels, planes.width};
}

void copy_lines(const Planes& shape, const Lines& from, const Lines& to, int64_t begin, int64_t end) {
  for (int64_t c = begin; c < end; ++c) {
    for (int64_t n = 0; n < shape.images; ++n) {
      const float* source = from.first + c * from.channel + n * from.image;
      float* target = to.first + c * to.channel + n * to.image;
      for (int64_t y = 0; y < shape.height; ++y) {
        std::memcpy(target + y * to.line, source + y * from.line,
                    static_cast<size_t>(shape.width) * sizeof(float));
      }
    }
  }
}

void to_rows(const float* samples, int64_t channels, int64_t stride, float* rows, int64_t begin,
             int64_t end) {
  int64_t i = begin;
  for (; i + 8 <= end; i += 8) {
    kernels::machine().pack_eight(samples + i * channels, channels, rows + i, stride, channels);
  }
  for (; i < end; ++i) {
    for (int64_t c = 0; c < channels; ++c) rows[c * stride + i] = samples[i * channels + c];
  }
}

void from_rows(const float* rows, int64_t channels, int64_t stride, float* samples, int64_t begin,
               int64_t end) {
  int64_t i = begin;
  for (; i + 8 <= end; i += 8) {
    kernels::machine().unpack_eight(rows + i, stride, samples + i * channels, channels, channels);
  }
  for (; i < end; ++i) {
    for (int64_t c = 0; c < channels; ++c) samples[i * channels + c] = rows[c * stride + i];
  }
}

}  // namespace hewn::flow

#include "hewn/data/folders/resample.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hewn/core/random.h"
#include "hewn/data/folders/reference/resample.h"

namespace hewn::data {
namespace {

struct Image {
  int64_t width, height, stride;
  std::vector<uint8_t> bytes;

  Image(int64_t w, int64_t h) : width(w), height(h), stride(3 * w + 5) {
    bytes.resize(static_cast<size_t>(h * stride + kResamplePadding));
    for (size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<uint8_t>(draw(1, Stream::kSynthetic, 0, i)[0] >> 24);
    }
  }
};

std::vector<uint8_t> resampled(const Image& image, const ResampleSpan& rows, const ResampleSpan& columns) {
  ResampleAxis row_axis, column_axis;
  make_axis(rows, row_axis);
  make_axis(columns, column_axis);
  std::vector<float> scratch(static_cast<size_t>(resample_scratch(column_axis)));
  std::vector<uint8_t> out(static_cast<size_t>(3 * rows.outputs * columns.outputs));
  resample(image.bytes.data(), image.stride, row_axis, column_axis, scratch.data(), out.data());
  return out;
}

ResampleSpan whole(int64_t extent, int64_t outputs) {
  return {0, static_cast<double>(extent) / static_cast<double>(outputs), 0, extent, outputs};
}

TEST(Resample, EqualsItsTwinOverAwkwardSizes) {
  for (const int64_t width : {1, 2, 5, 64, 131}) {
    for (const int64_t height : {1, 3, 64, 97}) {
      const Image image(width, height);
      for (const int64_t outputs : {1, 7, 64}) {
        for (const bool part : {false, true}) {
          ResampleSpan rows = whole(height, outputs);
          ResampleSpan columns = whole(width, outputs + 1);
          columns.mirror = part;
          if (part && width > 2 && height > 2) {  // a ragged piece with bounds of its own
            rows = {0.7, (static_cast<double>(height) - 1.7) / static_cast<double>(outputs), 0, height - 1,
                    outputs};
            columns.low = 1;
            columns.begin = 1.25;
            columns.step = (static_cast<double>(width) - 1.25) / static_cast<double>(outputs + 1);
          }
          std::vector<double> expected(static_cast<size_t>(3 * outputs * (outputs + 1)));
          reference::resample(image.bytes.data(), image.stride, rows, columns, expected.data());
          const std::vector<uint8_t> got = resampled(image, rows, columns);
          for (size_t i = 0; i < got.size(); ++i) {
            ASSERT_NEAR(got[i], expected[i], 0.5 + 1e-3)
                << width << "x" << height << " to " << outputs << ", value " << i << ", part " << part;
          }
        }
      }
    }
  }
}

TEST(Resample, TheSameSizeChangesNothing) {
  const Image image(37, 11);
  const std::vector<uint8_t> got = resampled(image, whole(11, 11), whole(37, 37));
  for (int64_t y = 0; y < 11; ++y) {
    const auto row = image.bytes.begin() + y * image.stride;
    EXPECT_TRUE(std::equal(row, row + int64_t{3} * 37, got.begin() + y * 3 * 37)) << y;
  }
}

// Pillow 9.4: Image.resize((3, 1), BILINEAR) of one row of grey values.
TEST(Resample, AgreesWithPillow) {
  Image image(8, 1);
  const uint8_t values[8] = {0, 255, 10, 200, 30, 90, 120, 250};
  for (size_t x = 0; x < 8; ++x) std::fill_n(image.bytes.begin() + static_cast<int64_t>(3 * x), 3, values[x]);
  const std::vector<uint8_t> got = resampled(image, whole(1, 1), whole(8, 3));
  const int expected[3] = {119, 97, 143};
  for (size_t x = 0; x < 3; ++x) EXPECT_NEAR(got[3 * x], expected[x], 1) << x;
}

}  // namespace
}  // namespace hewn::data

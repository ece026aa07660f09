#include "hewn/kernels/panels.h"

#include <gtest/gtest.h>

#include "hewn/kernels/reference/panels.h"
#include "tests/support/numbers.h"

namespace hewn::kernels {
namespace {

const std::vector<int64_t> kBatches = {1, 7, 8, 9, 24, 32, 33, 100};

std::vector<ImageShape> images() {
  return {{1, 1, 1, 0}, {1, 1, 1, 3}, {5, 4, 3, 2}, {3, 1, 9, 1}, {8, 9, 2, 0}, {17, 3, 8, 1}};
}

std::vector<float> untouched(int64_t floats) {
  return std::vector<float>(static_cast<size_t>(floats), 1e30F);
}

TEST(Panels, SamplesEqualTheReference) {
  for (const int64_t batch : kBatches) {
    for (const int64_t rows : {1, 7, 8, 9, 50}) {
      SCOPED_TRACE(testing::Message() << batch << " x " << rows);
      const PanelShape shape{batch, rows};
      const int64_t half = shape.panels() / 2;  // as two threads would share them
      const std::vector<float> samples = numbers(batch * rows, 1);
      std::vector<float> panels = untouched(shape.floats()), expected = panels;
      pack_panels(shape, samples.data(), panels.data(), 0, half);
      pack_panels(shape, samples.data(), panels.data(), half, shape.panels());
      reference::pack_panels(shape, samples.data(), expected.data(), 0, shape.panels());
      ASSERT_EQ(panels, expected);

      std::vector<float> back = untouched(batch * rows), expected_back = back;
      unpack_panels(shape, panels.data(), back.data(), 0, half);
      unpack_panels(shape, panels.data(), back.data(), half, shape.panels());
      reference::unpack_panels(shape, panels.data(), expected_back.data(), 0, shape.panels());
      ASSERT_EQ(back, expected_back);
      ASSERT_EQ(back, samples);
    }
  }
}

TEST(Panels, ImagesEqualTheReferenceInBothOrders) {
  for (const ImageShape& image : images()) {
    for (const int64_t batch : kBatches) {
      for (const bool last : {false, true}) {
        SCOPED_TRACE(testing::Message() << batch << " x " << image.channels << "x" << image.height << "x"
                                        << image.width << " border " << image.border << " last " << last);
        const PanelShape shape{batch, image.rows()};
        const std::vector<float> samples = numbers(batch * image.channels * image.height * image.width, 1);
        std::vector<float> panels = untouched(shape.floats()), expected = panels;
        pack_images(shape, image, last, samples.data(), panels.data(), 0, shape.panels());
        reference::pack_images(shape, image, last, samples.data(), expected.data(), 0, shape.panels());
        ASSERT_EQ(panels, expected);

        std::vector<float> back = untouched(static_cast<int64_t>(samples.size())), expected_back = back;
        unpack_images(shape, image, last, panels.data(), back.data(), 0, shape.panels());
        reference::unpack_images(shape, image, last, panels.data(), expected_back.data(), 0, shape.panels());
        ASSERT_EQ(back, expected_back);
        ASSERT_EQ(back, samples);
      }
    }
  }
}

TEST(Panels, OneImageEqualsTheReferenceAndLeavesTheBorder) {
  for (const ImageShape& image : images()) {
    const std::vector<float> sample = numbers(image.channels * image.height * image.width, 1);
    std::vector<float> column = untouched(image.rows()), expected = column;
    pack_image(image, sample.data(), column.data());
    reference::pack_image(image, sample.data(), expected.data());
    ASSERT_EQ(column, expected);

    std::vector<float> back = untouched(static_cast<int64_t>(sample.size())), expected_back = back;
    unpack_image(image, column.data(), back.data());
    reference::unpack_image(image, column.data(), expected_back.data());
    ASSERT_EQ(back, expected_back);
    ASSERT_EQ(back, sample);
  }
}

}  // namespace
}  // namespace hewn::kernels

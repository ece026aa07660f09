// Apart from what uses it, so that ThreadSanitizer can look at it without LibTorch.
#include "hewn/data/folders/batch_loader.h"

#include <gtest/gtest.h>

#include <new>

#include "hewn/core/error.h"

namespace hewn::data {
namespace {

TEST(BatchLoader, DeliversInOrderAndPassesFailuresOn) {
  int chosen = 0;
  const auto choose = [&](int64_t number) {
    ++chosen;
    LoadedBatch batch;
    batch.images = {static_cast<size_t>(number), static_cast<size_t>(number) + 1};
    auto memory = std::make_shared<std::vector<uint8_t>>(2);
    batch.pixels = memory->data();
    batch.memory = memory;
    return batch;
  };
  const auto fill = [&](size_t, const LoadedBatch& batch, size_t sample) {
    if (batch.images[sample] == 40) throw Error("a problem");
    if (batch.images[sample] == 60) throw std::bad_alloc();
    batch.pixels[sample] = static_cast<uint8_t>(3 * batch.images[sample]);
  };
  BatchLoader loader(3, 4, 100, choose, fill);
  for (int64_t i = 0; i < 39; ++i) {
    const LoadedBatch batch = loader.get(i);
    ASSERT_EQ(batch.pixels[1], static_cast<uint8_t>(3 * (i + 1)));
    ASSERT_LE(chosen, i + 4);  // bounded
  }
  EXPECT_EQ(loader.get(39).problems, (std::vector<std::string>{"", "a problem"}));
  EXPECT_THROW(loader.get(60), std::bad_alloc);
  EXPECT_EQ(loader.get(99).pixels[0], static_cast<uint8_t>(3 * 99));
  EXPECT_EQ(loader.get(0).pixels[0], 0);
}

}  // namespace
}  // namespace hewn::data

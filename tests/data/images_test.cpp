#include "hewn/data/images.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "hewn/core/error.h"

namespace hewn::data {
namespace {

/// 50 images whose pixels tell the image, the row and the column.
ImageSet numbered() {
  at::Tensor images = at::zeros({50, 3, 8, 8}, at::kByte);
  for (int64_t i = 0; i < 50; ++i) {
    images[i][0].fill_(i + 1);
    images[i][1] = at::arange(1, 9, at::kByte).unsqueeze(1).expand({8, 8});
    images[i][2] = at::arange(1, 9, at::kByte).unsqueeze(0).expand({8, 8});
  }
  return {images, at::arange(50)};
}

const DataInfo kInfo = {"numbered", {3, 8, 8}, 50};
const ImageOptions kPlain = {{0, 0, 0}, {1, 1, 1}, true};

TEST(Images, ABatchIsAPureFunctionOfSeedEpochAndNumber) {
  const auto a =
      make_image_source(kInfo, numbered(), numbered(), kPlain, {.batch = 16, .seed = 7, .augment = true});
  const auto b =
      make_image_source(kInfo, numbered(), numbered(), kPlain, {.batch = 16, .seed = 7, .augment = true});
  a->train_batch(0, 0);
  a->train_batch(0, 1);
  const Batch first = a->train_batch(3, 2);
  const Batch second = b->train_batch(3, 2);  // without the batches before it
  EXPECT_TRUE(at::equal(first.input, second.input));
  EXPECT_TRUE(at::equal(first.target, second.target));
  EXPECT_FALSE(at::equal(first.target, a->train_batch(4, 2).target));
}

TEST(Images, SharesOfABatchMakeTheWhole) {
  const auto whole = make_image_source(kInfo, numbered(), numbered(), kPlain, {.batch = 12, .seed = 7});
  std::vector<at::Tensor> parts;
  for (int64_t rank = 0; rank < 3; ++rank) {
    const DataOptions options = {.batch = 12, .share = {rank, 3}, .seed = 7};
    const auto source = make_image_source(kInfo, numbered(), numbered(), kPlain, options);
    EXPECT_EQ(source->train_batches(), whole->train_batches());
    parts.push_back(source->train_batch(1, 2).input);
  }
  EXPECT_TRUE(at::equal(at::cat(parts), whole->train_batch(1, 2).input));
  const auto uneven =
      make_image_source(kInfo, numbered(), numbered(), kPlain, {.batch = 12, .share = {0, 5}});
  EXPECT_THROW(uneven->train_batch(0, 0), Error);
}

TEST(Images, AnEpochShowsEachImageAtMostOnce) {
  const auto source =
      make_image_source(kInfo, numbered(), numbered(), kPlain, {.batch = 16, .seed = 0, .augment = true});
  ASSERT_EQ(source->train_batches(), 3);
  std::set<int64_t> seen;
  for (int64_t n = 0; n < 3; ++n) {
    const Batch batch = source->train_batch(0, n);
    for (int64_t i = 0; i < 16; ++i) EXPECT_TRUE(seen.insert(batch.target[i].item<int64_t>()).second);
  }
}

TEST(Images, CropsAndMirrorsAreThoseOfTheImage) {
  const auto source =
      make_image_source(kInfo, numbered(), numbered(), kPlain, {.batch = 48, .seed = 0, .augment = true});
  std::set<int> mirrored;
  std::set<int64_t> shifts;
  const Batch batch = source->train_batch(0, 0);
  for (int64_t i = 0; i < 48; ++i) {
    const at::Tensor image = (batch.input[i] * 255).round().to(at::kLong);
    const int64_t label = batch.target[i].item<int64_t>();
    for (int64_t y = 0; y < 8; ++y) {
      for (int64_t x = 0; x < 8; ++x) {
        const int64_t id = image[0][y][x].item<int64_t>();
        EXPECT_TRUE(id == 0 || id == label + 1);  // padding or the image itself
        if (id == 0) continue;
        shifts.insert(image[1][y][x].item<int64_t>() - y - 1);
        if (x + 1 < 8 && image[2][y][x + 1].item<int64_t>() != 0) {
          const int64_t direction = image[2][y][x + 1].item<int64_t>() - image[2][y][x].item<int64_t>();
          EXPECT_EQ(std::abs(direction), 1);
          mirrored.insert(static_cast<int>(direction));
        }
      }
    }
  }
  EXPECT_EQ(mirrored.size(), 2U);
  EXPECT_EQ(*shifts.begin(), -4);
  EXPECT_EQ(*shifts.rbegin(), 4);
}

TEST(Images, NormalisesAndLeavesTheTestSetAlone) {
  ImageSet set = numbered();
  const ImageOptions options = {{0.5, 0.5, 0.5}, {0.25, 0.25, 0.25}, true};
  const auto source = make_image_source(kInfo, set, set, options, {.batch = 20, .seed = 0, .augment = true});
  EXPECT_EQ(source->test_batches(), 3);
  EXPECT_EQ(source->test_batch(2).target.numel(), 10);
  const at::Tensor expected = (set.images.narrow(0, 20, 20).to(at::kFloat) / 255 - 0.5) / 0.25;
  EXPECT_TRUE(at::allclose(source->test_batch(1).input, expected, 1e-5, 1e-6));
}

TEST(Images, WithoutAugmentationTrainingImagesAreWhole) {
  const auto source =
      make_image_source(kInfo, numbered(), numbered(), kPlain, {.batch = 10, .seed = 0, .augment = false});
  const Batch batch = source->train_batch(0, 0);
  const at::Tensor expected = numbered().images.index_select(0, batch.target).to(at::kFloat) / 255;
  EXPECT_TRUE(at::allclose(batch.input, expected));
}

}  // namespace
}  // namespace hewn::data

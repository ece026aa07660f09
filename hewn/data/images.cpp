#include "hewn/data/images.h"

#include <ATen/TensorIndexing.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/tensor.h>

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/random.h"
#include "hewn/data/inputs/image_rule.h"
#include "hewn/data/inputs/normalisation.h"

namespace hewn::data {
namespace {

constexpr int64_t kPadding = 4;

class ImageSource final : public Source {
 public:
  ImageSource(DataInfo info, const ImageSet& train, const ImageSet& test, const ImageOptions& images,
              const DataOptions& options)
      : info_(std::move(info)), options_(options), crop_(images.crop_and_flip && options.augment) {
    info_.train_size = train.labels.numel();
    info_.test_size = test.labels.numel();
    if (options.batch < 1) throw Error(str("batch: expected at least 1, got ", options.batch));
    if (options.evaluate_on != Part::kTest) throw Error(str("data ", info_.name, ": has no validation part"));
    batch_ = std::min(options.batch, info_.train_size);
    train_images_ =
        crop_ ? at::constant_pad_nd(train.images, {kPadding, kPadding, kPadding, kPadding}) : train.images;
    train_images_ = train_images_.to(options.device);
    train_labels_ = train.labels.to(options.device);
    test_images_ = test.images.to(options.device);
    test_labels_ = test.labels.to(options.device);

    const Normalisation normalisation(images.mean, images.deviation);
    const auto channels = static_cast<int64_t>(images.mean.size());
    scale_ = at::tensor(normalisation.scale).reshape({1, channels, 1, 1}).to(options.device);
    shift_ = at::tensor(normalisation.shift).reshape({1, channels, 1, 1}).to(options.device);

    const int64_t size = info_.input[1];
    preprocessing_.classes = images.classes;
    if (size == info_.input[2] && (channels == 1 || channels == 3))
      preprocessing_.rule = ImageRule{channels, size, size, images.mean, images.deviation}.to_json();
  }

  const DataInfo& info() const override { return info_; }
  Preprocessing preprocessing() const override { return preprocessing_; }
  uint32_t fingerprint() const override {
    return checksum(test_images_, checksum(train_labels_, checksum(train_images_, 0)));
  }
  int64_t train_batches() const override { return info_.train_size / batch_; }
  int64_t test_batches() const override { return (info_.test_size + options_.batch - 1) / options_.batch; }

  Batch train_batch(int64_t epoch, int64_t number) override {
    if (epoch != epoch_) prepare(epoch);
    const Share& share = options_.share;
    const at::Tensor rows = order_.narrow(0, number * batch_ + share.first_of(batch_), share.rows_of(batch_));
    const at::Tensor images = crop_ ? cropped(rows) : train_images_.index_select(0, rows);
    return {normalised(images), train_labels_.index_select(0, rows)};
  }

  Batch test_batch(int64_t number) override {
    const int64_t begin = number * options_.batch;
    const int64_t count = std::min(options_.batch, info_.test_size - begin);
    return {normalised(test_images_.narrow(0, begin, count)), test_labels_.narrow(0, begin, count)};
  }

 private:
  /// The order and the crops of an epoch, one transfer for all of its batches.
  void prepare(int64_t epoch) {
    const auto e = static_cast<uint64_t>(epoch);
    order_ = at::tensor(permutation(options_.seed, e, info_.train_size)).to(options_.device);
    epoch_ = epoch;
    if (!crop_) return;
    const auto size = static_cast<size_t>(info_.train_size);
    std::vector<int64_t> top(size);
    std::vector<int64_t> left(size);
    std::vector<int64_t> mirror(size);
    for (size_t i = 0; i < size; ++i) {
      const auto words = draw(options_.seed, Stream::kAugment, e, i);
      top[i] = below(words[0], 2 * kPadding + 1);
      left[i] = below(words[1], 2 * kPadding + 1);
      mirror[i] = below(words[2], 2);
    }
    top_ = at::tensor(top).to(options_.device);
    left_ = at::tensor(left).to(options_.device);
    mirror_ = at::tensor(mirror).to(options_.device);
  }

  at::Tensor cropped(const at::Tensor& rows) const {
    const int64_t height = info_.input[1];
    const int64_t width = info_.input[2];
    const auto indices = at::TensorOptions(at::kLong).device(options_.device);
    const at::Tensor x = at::arange(width, indices).unsqueeze(0);
    const at::Tensor flip = mirror_.index_select(0, rows).unsqueeze(1);
    const at::Tensor columns = left_.index_select(0, rows).unsqueeze(1) + x + flip * (width - 1 - 2 * x);
    const at::Tensor lines =
        top_.index_select(0, rows).unsqueeze(1) + at::arange(height, indices).unsqueeze(0);
    const at::Tensor channels = at::arange(info_.input[0], indices);
    return train_images_.index({rows.reshape({-1, 1, 1, 1}), channels.reshape({1, -1, 1, 1}),
                                lines.reshape({-1, 1, height, 1}), columns.reshape({-1, 1, 1, width})});
  }

  at::Tensor normalised(const at::Tensor& bytes) const {
    return bytes.to(at::kFloat).mul_(scale_).add_(shift_);
  }

  DataInfo info_;
  Preprocessing preprocessing_;
  DataOptions options_;
  bool crop_;
  int64_t batch_ = 0;
  at::Tensor train_images_, train_labels_, test_images_, test_labels_, scale_, shift_;
  int64_t epoch_ = -1;
  at::Tensor order_, top_, left_, mirror_;
};

}  // namespace

std::unique_ptr<Source> make_image_source(const DataInfo& info, const ImageSet& train, const ImageSet& test,
                                          const ImageOptions& images, const DataOptions& options) {
  return std::make_unique<ImageSource>(info, train, test, images, options);
}

}  // namespace hewn::data

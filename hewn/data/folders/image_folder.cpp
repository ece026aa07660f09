// Batches of image files as tensors; the only file here that knows LibTorch.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <set>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/random.h"
#include "hewn/data/folders/batch_loader.h"
#include "hewn/data/folders/image_reader.h"
#include "hewn/data/folders/index.h"
#include "hewn/data/folders/pack.h"
#include "hewn/data/folders/parts.h"
#include "hewn/data/inputs/image_inputs.h"
#include "hewn/data/plumbing/pipeline.h"
#include "hewn/data/source.h"

namespace hewn::data {
namespace {

// Of all ImageNet's pixels, in [0, 1]; most trained networks expect them.
const std::vector<double> kMean = {0.485, 0.456, 0.406};
const std::vector<double> kDeviation = {0.229, 0.224, 0.225};
// Batches that exist beside the one in use: enough to even out slow images and slow steps.
constexpr size_t kAhead = 3;
constexpr size_t kProblemsShown = 5;

class ImageFolder final : public Source {
 public:
  ImageFolder(const std::filesystem::path& folder, const DataOptions& options)
      : folder_(folder), options_(options) {
    if (options.batch < 1) throw Error(str("batch: expected at least 1, got ", options.batch));
    check(options.folders);
    readers_.emplace_back();
    if (std::filesystem::is_regular_file(folder)) pack_ = std::make_unique<ImagePack>(folder);
    images_ = pack_ ? pack_->images() : indexed_images(folder, options.clicks.cache, options.on_message);
    parts_ = image_parts(images_, options.clicks, options.evaluate_on);
    sizes_ = sizes_of_first();  // fails early in a build that cannot decode
    info_ = {.name = "imagefolder",
             .input = {3, sizes_.input, sizes_.input},
             .classes = static_cast<int64_t>(images_.classes.size()),
             .kind = Kind::kImages,
             .train_size = static_cast<int64_t>(parts_.train.size()),
             .test_size = static_cast<int64_t>(parts_.held_out.size())};
    batch_ = options.share.batch_within(info_.train_size, options.batch);
    make_normalisation();
    start_workers();
  }

  const DataInfo& info() const override { return info_; }
  Preprocessing preprocessing() const override {
    Preprocessing out;
    for (const std::string& name : images_.classes) out.classes.push_back(plain_class_name(name));
    out.rule = ImageRule{3, sizes_.input, sizes_.eval_resize, kMean, kDeviation}.to_json();
    return out;
  }
  /// Names and classes of all images; looking into them would take as long as an epoch.
  uint32_t fingerprint() const override {
    ImageListing listing = images_;
    listing.seen.clear();  // times, which differ between copies
    return crc32(index_bytes(listing, 0));
  }
  int64_t train_batches() const override { return info_.train_size / batch_; }
  int64_t test_batches() const override { return (info_.test_size + options_.batch - 1) / options_.batch; }

  Batch train_batch(int64_t epoch, int64_t number) override {
    return finished(train_->get(epoch * train_batches() + number));
  }
  Batch test_batch(int64_t number) override { return finished(test_->get(number)); }

 private:
  ImageSizes sizes_of_first() {
    std::string problem;
    for (size_t i = 0; i < std::min<size_t>(parts_.train.size(), 100); ++i) {
      const size_t image = parts_.train[i];
      try {
        const auto [width, height] =
            pack_ ? readers_[0].measure(pack_->image(image)) : readers_[0].measure(path_of(image));
        return choose_sizes(options_.folders, width, height);
      } catch (const DamagedImage& error) {
        if (problem.empty()) problem = str(path_of(image).string(), ": ", error.what());
      }
    }
    throw Error(str(problem, "; none of the first training images can be decoded"));
  }

  void make_normalisation() {
    const Normalisation normalisation(kMean, kDeviation);
    scale_ = at::tensor(normalisation.scale).reshape({1, 3, 1, 1}).to(options_.device);
    shift_ = at::tensor(normalisation.shift).reshape({1, 3, 1, 1}).to(options_.device);
  }

  void start_workers() {
    const auto asked = static_cast<size_t>(options_.folders.workers);
    const size_t workers = asked == 0 ? processors() : asked;
    while (readers_.size() < 2 * workers) readers_.emplace_back();
    train_ = std::make_unique<BatchLoader>(
        workers, kAhead, std::numeric_limits<int64_t>::max(),
        [this](int64_t number) { return choose_train(number); },
        [this](size_t worker, const LoadedBatch& batch, size_t sample) {
          fill(readers_[worker], batch, sample, options_.augment);
        });
    test_ = std::make_unique<BatchLoader>(
        workers, kAhead, test_batches(), [this](int64_t number) { return choose_test(number); },
        [this, workers](size_t worker, const LoadedBatch& batch, size_t sample) {
          fill(readers_[workers + worker], batch, sample, /*augment=*/false);
        });
  }

  LoadedBatch choose_train(int64_t number) {
    LoadedBatch out;
    out.epoch = static_cast<uint64_t>(number / train_batches());
    if (order_.empty() || order_epoch_ != out.epoch) {
      order_ = permutation(options_.seed, out.epoch, info_.train_size);
      order_epoch_ = out.epoch;
    }
    const auto begin = order_.begin() + number % train_batches() * batch_ + options_.share.first_of(batch_);
    for (int64_t i = 0; i < options_.share.rows_of(batch_); ++i) {
      out.images.push_back(parts_.train[static_cast<size_t>(begin[i])]);
    }
    make_room(out);
    return out;
  }

  LoadedBatch choose_test(int64_t number) const {
    LoadedBatch out;
    const int64_t begin = number * options_.batch;
    const int64_t count = std::min(options_.batch, info_.test_size - begin);
    const auto first = parts_.held_out.begin() + begin;
    out.images.assign(first, first + count);
    make_room(out);
    return out;
  }

  /// Memory that LibTorch knows: pinned for CUDA, and not used again before a copy from it has ended.
  void make_room(LoadedBatch& batch) const {
    const auto samples = static_cast<int64_t>(batch.images.size());
    const auto host = at::TensorOptions(at::kByte).pinned_memory(options_.device.is_cuda());
    const auto tensor =
        std::make_shared<at::Tensor>(at::empty({samples, sizes_.input, sizes_.input, 3}, host));
    batch.pixels = tensor->data_ptr<uint8_t>();
    batch.memory = tensor;
  }

  void fill(ImageReader& reader, const LoadedBatch& batch, size_t sample, bool augment) const {
    const size_t image = batch.images[sample];
    const auto bytes = static_cast<size_t>(3 * sizes_.input * sizes_.input);
    uint8_t* out = batch.pixels + sample * bytes;
    const auto choose = [&](int64_t width, int64_t height) {
      return augment ? random_crop(width, height, sizes_.crop_area, options_.seed, batch.epoch, image)
                     : centre_crop(width, height, sizes_.eval_resize, sizes_.input);
    };
    try {
      if (pack_) {
        reader.decode(pack_->image(image), choose, sizes_.input, out);
      } else {
        reader.read(path_of(image), choose, sizes_.input, out);
      }
    } catch (const Error&) {
      for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<uint8_t>(std::lround(255 * kMean[i % 3]));
      throw;
    }
  }

  std::filesystem::path path_of(size_t image) const { return folder_ / images_.path(image); }

  Batch finished(const LoadedBatch& batch) {
    const auto count = static_cast<int64_t>(batch.images.size());
    const bool cuda = options_.device.is_cuda();
    const at::Tensor labels = at::empty({count}, at::TensorOptions(at::kLong).pinned_memory(cuda));
    for (size_t i = 0; i < batch.images.size(); ++i) {
      labels.data_ptr<int64_t>()[i] = images_.label(batch.images[i]);
      if (!batch.problems[i].empty()) note_problem(batch.images[i], batch.problems[i]);
    }
    // Bytes travel, and the device makes floats of them. The pixels of a sample lie together: as N x C x H x
    // W that is LibTorch's channels-last order, which a GPU wants.
    const at::Tensor bytes =
        std::static_pointer_cast<at::Tensor>(batch.memory)->to(options_.device, /*non_blocking=*/true);
    const auto order = cuda ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
    const at::Tensor input =
        bytes.permute({0, 3, 1, 2}).to(at::kFloat, false, false, order).mul_(scale_).add_(shift_);
    return {input, labels.to(options_.device, /*non_blocking=*/true)};
  }

  /// Damaged images are grey. They are counted in the order of the batches, whatever worker met them first.
  void note_problem(size_t image, const std::string& problem) {
    const std::string text = str(path_of(image).string(), ": ", problem);
    const bool is_new = damaged_.insert(image).second;
    const auto all = static_cast<double>(info_.train_size + info_.test_size);
    if (static_cast<double>(damaged_.size()) > options_.folders.bad_images * all) {
      throw Error(str(text, "; ", damaged_.size(), " of ", all,
                      " images are damaged, bad-images allows a share of ", options_.folders.bad_images));
    }
    if (!is_new || !options_.on_message || damaged_.size() > kProblemsShown) return;
    options_.on_message(str(text, "; a grey image takes its place",
                            damaged_.size() == kProblemsShown ? "; others are not shown" : ""));
  }

  std::filesystem::path folder_;
  DataOptions options_;
  std::unique_ptr<ImagePack> pack_;  // where the images are in one file
  ImageListing images_;
  ImageParts parts_;  // numbers in images_, which all below are too
  ImageSizes sizes_;
  DataInfo info_;
  int64_t batch_ = 0;
  at::Tensor scale_, shift_;
  std::vector<int64_t> order_;
  uint64_t order_epoch_ = 0;
  std::set<size_t> damaged_;
  std::deque<ImageReader> readers_;            // one for each worker of both loaders
  std::unique_ptr<BatchLoader> train_, test_;  // last: their threads use all of the above
};

}  // namespace

std::unique_ptr<Source> open_image_folder(const std::string& path, const DataOptions& options) {
  return std::make_unique<ImageFolder>(path, options);
}

}  // namespace hewn::data

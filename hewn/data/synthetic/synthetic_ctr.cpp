#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "hewn/core/error.h"
#include "hewn/data/source.h"
#include "hewn/data/synthetic/click_world.h"
#include "hewn/data/synthetic/cuda/click_rows.h"
#include "hewn/tensor/stream.h"

namespace hewn::data {
namespace {

constexpr int64_t kEpochRows = 1'000'000;
constexpr int64_t kHeldOutRows = 200'000;

uint64_t parse_world(const std::string& text) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (!text.empty() && (problem != std::errc() || stop != end)) {
    throw Error(
        str("data synthetic-ctr: expected the number of a world, as in synthetic-ctr:3, got \"", text, "\""));
  }
  return number;
}

template <class T>
at::Tensor bytes_on(const std::vector<T>& items, at::Device device) {
  const auto bytes = static_cast<int64_t>(items.size() * sizeof(T));
  return at::from_blob(const_cast<T*>(items.data()), {bytes}, at::kByte).to(device);
}

/// Rows are made when they are asked for, on the device that wants them; nothing is stored but the truth.
class SyntheticClicks final : public Source {
 public:
  SyntheticClicks(uint64_t world, const DataOptions& options)
      : world_(world), truth_(world_.truth()), options_(options) {
    if (options.batch < 1) throw Error(str("batch: expected at least 1, got ", options.batch));
    const bool test = options.evaluate_on == Part::kTest;
    held_out_ = world_.held_out(test ? ClickWorld::HeldOut::kTest : ClickWorld::HeldOut::kValidation);
    info_ = {.name = "synthetic-ctr",
             .input = {kClickFields},
             .classes = 1,
             .kind = Kind::kClicks,
             .train_size = kEpochRows,
             .test_size = kHeldOutRows,
             .vocabularies = world_.vocabularies(),
             .best_test_loss = world_.bayes_loss(held_out_, kHeldOutRows)};
    batch_ = std::min(options.batch, kEpochRows);
    if (!options.device.is_cuda()) return;
    aliases_ = bytes_on(world_.aliases(), options.device);
    effects_ = bytes_on(world_.effects(), options.device);
    truth_.aliases = static_cast<const AliasEntry*>(aliases_.data_ptr());
    truth_.effects = static_cast<const ValueEffect*>(effects_.data_ptr());
  }

  const DataInfo& info() const override { return info_; }
  Preprocessing preprocessing() const override { return {{"no click", "click"}, {}, {}}; }
  int64_t train_batches() const override { return kEpochRows / batch_; }
  int64_t test_batches() const override { return (kHeldOutRows + kHeldOutBatch - 1) / kHeldOutBatch; }

  Batch train_batch(int64_t epoch, int64_t number) override {
    const Share& share = options_.share;
    return rows(ClickWorld::training(options_.seed, epoch), number * batch_ + share.first_of(batch_),
                share.rows_of(batch_));
  }

  Batch test_batch(int64_t number) override {
    const int64_t begin = number * kHeldOutBatch;
    return rows(held_out_, begin, std::min(kHeldOutBatch, kHeldOutRows - begin));
  }

 private:
  Batch rows(const ClickStream& stream, int64_t first, int64_t count) const {
    const auto on_device = at::TensorOptions(options_.device);
    Batch out = {at::empty({count, kClickFields}, on_device.dtype(at::kInt)),
                 at::empty({count}, on_device.dtype(at::kFloat))};
    auto* input = out.input.data_ptr<int32_t>();
    auto* target = out.target.data_ptr<float>();
    if (options_.device.is_cuda()) {
      const c10::DeviceGuard guard(options_.device);
      cuda::click_rows(truth_, stream, first, count, input, target, tensor::current_stream(out.input));
    } else {
      draw_clicks(truth_, stream, first, count, {input, target});
    }
    return out;
  }

  ClickWorld world_;
  ClickTruth truth_;  // on the device
  DataOptions options_;
  DataInfo info_;
  ClickStream held_out_;
  int64_t batch_ = 0;
  at::Tensor aliases_, effects_;  // where the truth lies on a GPU
};

}  // namespace

std::unique_ptr<Source> open_synthetic_ctr(const std::string& path, const DataOptions& options) {
  return std::make_unique<SyntheticClicks>(parse_world(path), options);
}

}  // namespace hewn::data

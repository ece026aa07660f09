// Batches of click logs as tensors; the only file here that knows LibTorch.
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/data/clicks/batches/click_reader.h"
#include "hewn/data/clicks/prepare.h"
#include "hewn/data/inputs/click_rule.h"
#include "hewn/data/source.h"

namespace hewn::data {
namespace {

void on_all_threads(size_t count, const std::function<void(size_t)>& task) {
  at::parallel_for(0, static_cast<int64_t>(count), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) task(static_cast<size_t>(i));
  });
}

class ClickSource final : public Source {
 public:
  ClickSource(const std::string& name, const std::filesystem::path& cache, const DataOptions& options)
      : options_(options), reader_(cache, options.seed, on_all_threads) {
    if (options.batch < 1) throw Error(str("batch: expected at least 1, got ", options.batch));
    part_ = options.evaluate_on == Part::kTest ? RowPart::kTest : RowPart::kValidation;
    info_.name = name;
    info_.input = {static_cast<int64_t>(reader_.cache().fields().size())};
    info_.classes = 1;
    info_.kind = Kind::kClicks;
    info_.train_size = static_cast<int64_t>(reader_.rows(RowPart::kTrain));
    info_.test_size = static_cast<int64_t>(reader_.rows(part_));
    for (const CacheField& field : reader_.cache().fields()) {
      info_.vocabularies.push_back(static_cast<int64_t>(field.numbers));
    }
    const char* part = part_ == RowPart::kTest ? "test" : "validation";
    if (info_.train_size == 0) throw Error(str("data ", name, ": no rows are left for training"));
    if (info_.test_size == 0)
      throw Error(str("data ", name, ": the ", part, " part has no rows (--", part, "-share)"));
    batch_ = std::min(options.batch, info_.train_size);
  }

  const DataInfo& info() const override { return info_; }
  Preprocessing preprocessing() const override { return click_preprocessing(reader_.cache()); }
  /// Groups carry checksums of their own; the caches of equal logs are equal.
  uint32_t fingerprint() const override {
    uint32_t out = 0;
    for (const CacheGroup& group : reader_.cache().groups()) {
      out = crc32({reinterpret_cast<const char*>(&group.crc), sizeof(group.crc)}, out);
    }
    return out;
  }
  int64_t train_batches() const override { return info_.train_size / batch_; }
  int64_t test_batches() const override { return (info_.test_size + kHeldOutBatch - 1) / kHeldOutBatch; }

  Batch train_batch(int64_t epoch, int64_t number) override {
    const int64_t count = options_.share.rows_of(batch_);
    const int64_t first = number * batch_ + options_.share.first_of(batch_);
    const Batch batch = room(count);
    reader_.train_rows(static_cast<uint64_t>(epoch), static_cast<uint64_t>(first),
                       static_cast<uint64_t>(count), batch.input.data_ptr<int32_t>(),
                       batch.target.data_ptr<float>());
    return on_device(batch);
  }

  Batch test_batch(int64_t number) override {
    const int64_t begin = number * kHeldOutBatch;
    const int64_t count = std::min(kHeldOutBatch, info_.test_size - begin);
    const Batch batch = room(count);
    reader_.part_rows(part_, static_cast<uint64_t>(begin), static_cast<uint64_t>(count),
                      batch.input.data_ptr<int32_t>(), batch.target.data_ptr<float>());
    return on_device(batch);
  }

 private:
  Batch room(int64_t rows) const {
    const auto host = at::TensorOptions().pinned_memory(options_.device.is_cuda());
    return {at::empty({rows, info_.input[0]}, host.dtype(at::kInt)),
            at::empty({rows}, host.dtype(at::kFloat))};
  }
  Batch on_device(const Batch& batch) const {
    return {batch.input.to(options_.device, /*non_blocking=*/true),
            batch.target.to(options_.device, /*non_blocking=*/true)};
  }

  DataOptions options_;
  ClickReader reader_;
  RowPart part_;
  DataInfo info_;
  int64_t batch_ = 0;
};

std::unique_ptr<Source> open(const char* format, const std::string& path, const DataOptions& options) {
  PrepareRequest request;
  request.format = format;
  request.path = path;
  request.options = options.clicks;
  request.on_preparation = options.on_preparation;
  request.on_message = options.on_message;
  return std::make_unique<ClickSource>(format, prepare_clicks(request).cache, options);
}

}  // namespace

std::unique_ptr<Source> open_criteo(const std::string& path, const DataOptions& options) {
  return open("criteo", path, options);
}

std::unique_ptr<Source> open_ctr_csv(const std::string& path, const DataOptions& options) {
  return open("ctr-csv", path, options);
}

}  // namespace hewn::data

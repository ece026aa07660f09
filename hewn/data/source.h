#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hewn::data {

struct Batch {
  at::Tensor input;
  at::Tensor target;
};

struct DataInfo {
  std::string name;
  std::vector<int64_t> input;  // shape of one input
  int64_t classes = 0;
  int64_t train_size = 0;
  int64_t test_size = 0;
};

struct DataOptions {
  int64_t batch = 256;
  uint64_t seed = 0;
  bool augment = true;  // where the data set has augmentations
  at::Device device = at::kCPU;
};

/// Where batches come from. A batch is a pure function of (seed, epoch, number): a resumed run, or another
/// rank, sees the same data without any state to carry over.
class Source {
 public:
  virtual ~Source() = default;
  virtual const DataInfo& info() const = 0;
  /// Full batches in one epoch; what is left over waits for an epoch with another order.
  virtual int64_t train_batches() const = 0;
  virtual Batch train_batch(int64_t epoch, int64_t number) = 0;
  /// The test set in its own order, the last batch may be smaller.
  virtual int64_t test_batches() const = 0;
  virtual Batch test_batch(int64_t number) = 0;
};

struct SourceRow {
  std::string_view name;
  std::string_view help;
  std::unique_ptr<Source> (*open)(const std::string& path, const DataOptions&);
  DataInfo info;  // what is known without opening a file
};
const std::vector<SourceRow>& sources();

/// Splits "name:path" and finds the row; the path is empty where none is given.
const SourceRow& find_source(const std::string& spec, std::string* path);
std::unique_ptr<Source> open_source(const std::string& spec, const DataOptions& options);

}  // namespace hewn::data

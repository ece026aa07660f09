#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/core/preprocessing.h"
#include "hewn/data/clicks/options.h"
#include "hewn/data/folders/options.h"
#include "hewn/data/info.h"
#include "hewn/data/plumbing/preparation.h"
#include "hewn/data/tables/options.h"
#include "hewn/data/text/options.h"

namespace hewn::data {

/// What they hold depends on the kind of data.
struct Batch {
  at::Tensor input;
  at::Tensor target;
};

/// Held-out rows of click logs that are handed out at a time: evaluation needs no small batches.
constexpr int64_t kHeldOutBatch = 8192;

/// Which part of every batch a process takes, of several that train together.
struct Share {
  int64_t rank = 0;
  int64_t size = 1;

  /// Its rows in a batch: all together they are the batch. Throws Error where it cannot be shared evenly.
  int64_t rows_of(int64_t batch) const;
  int64_t first_of(int64_t batch) const { return rank * rows_of(batch); }
  /// The batch of data with so many training rows: where these are fewer, as many as can be shared evenly.
  /// Throws Error where not every process gets one.
  int64_t batch_within(int64_t rows, int64_t batch) const;
};

struct DataOptions {
  int64_t batch = 256;
  Share share = {};
  uint64_t seed = 0;
  bool augment = true;  // where the data set has augmentations
  at::Device device = at::kCPU;
  Part evaluate_on = Part::kTest;
  ClickOptions clicks = {};
  FolderOptions folders = {};
  TableOptions tables = {};
  TextOptions text = {};
  /// What a run recorded (Source::preprocessing), where a table or a text is new data for its model: all of
  /// it is then the held-out part.
  Preprocessing preprocessing = {};
  std::function<void(const Preparation&)> on_preparation = {};  // called now and then, from one thread
  std::function<void(const std::string&)> on_message =
      {};  // what the user should know; while the source lives
};

/// Where batches come from. A batch is a pure function of (seed, epoch, number): a resumed run, or another
/// rank, sees the same data without any state to carry over.
class Source {
 public:
  virtual ~Source() = default;
  virtual const DataInfo& info() const = 0;
  /// How raw data become the inputs of held-out batches, and names of the classes: for new data. Made when it
  /// is asked for, since vocabularies may be large.
  virtual Preprocessing preprocessing() const { return {}; }
  /// A checksum of the rows, or of what tells them apart: equal where processes see the same data.
  virtual uint32_t fingerprint() const { return 0; }
  /// Full batches in one epoch; what is left over waits for an epoch with another order.
  virtual int64_t train_batches() const = 0;
  /// This process's share of a batch.
  virtual Batch train_batch(int64_t epoch, int64_t number) = 0;
  /// The held-out part in its own order, the last batch may be smaller.
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

/// Of a tensor's values, for fingerprints.
uint32_t checksum(const at::Tensor& tensor, uint32_t seed);

/// Splits "name:path" and finds the row; the path is empty where none is given.
const SourceRow& find_source(const std::string& spec, std::string* path);
std::unique_ptr<Source> open_source(const std::string& spec, const DataOptions& options);

}  // namespace hewn::data

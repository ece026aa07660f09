#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/random.h"
#include "hewn/core/text.h"
#include "hewn/data/source.h"
#include "hewn/data/tables/cells.h"
#include "hewn/data/tables/encoding.h"
#include "hewn/data/tables/parts.h"

namespace hewn::data {
namespace {

/// Rows of a table, ready to be batches.
Batch encoded(const Cells& cells, const TableEncoding& encoding) {
  std::vector<float> inputs = encoded_inputs(cells, encoding);
  const at::Tensor input =
      at::from_blob(inputs.data(), {cells.rows, encoding.features()}, at::TensorOptions(at::kFloat)).clone();
  if (encoding.classes.empty()) return {input, at::tensor(encoded_numbers(cells, encoding))};
  return {input, at::tensor(encoded_classes(cells, encoding))};
}

class TableSource final : public Source {
 public:
  TableSource(const std::string& path, const DataOptions& options) : options_(options) {
    if (options.batch < 1) throw Error(str("batch: expected at least 1, got ", options.batch));
    if (path.empty()) throw Error("data csv: expected a file, as csv:FILE");
    if (!is_table_rule(options.preprocessing.rule)) {
      read(path);
    } else {
      encoding_ = table_encoding(options.preprocessing, "the run's record");
      held_out_ = encoded(read_new_rows(path, encoding_), encoding_);
    }
    info_.name = "csv";
    info_.input = {encoding_.features()};
    info_.classes = encoding_.classes.empty() ? 1 : static_cast<int64_t>(encoding_.classes.size());
    info_.kind = encoding_.classes.empty() ? Kind::kNumbers : Kind::kClasses;
    info_.train_size = training_.input.defined() ? training_.input.size(0) : 0;
    info_.test_size = held_out_.input.size(0);
    info_.target_scale = encoding_.target_scale;
    batch_ = options.share.batch_within(info_.train_size, options.batch);
    for (Batch* part : {&training_, &held_out_}) {
      if (!part->input.defined()) continue;
      part->input = part->input.to(options.device);
      part->target = part->target.to(options.device);
    }
  }

  const DataInfo& info() const override { return info_; }
  Preprocessing preprocessing() const override { return table_preprocessing(encoding_); }
  uint32_t fingerprint() const override {
    return checksum(held_out_.input, checksum(training_.target, checksum(training_.input, 0)));
  }
  int64_t train_batches() const override { return batch_ == 0 ? 0 : info_.train_size / batch_; }
  int64_t test_batches() const override { return (info_.test_size + options_.batch - 1) / options_.batch; }

  Batch train_batch(int64_t epoch, int64_t number) override {
    if (epoch != epoch_) {
      order_ = at::tensor(permutation(options_.seed, static_cast<uint64_t>(epoch), info_.train_size))
                   .to(options_.device);
      epoch_ = epoch;
    }
    const Share& share = options_.share;
    const at::Tensor rows = order_.narrow(0, number * batch_ + share.first_of(batch_), share.rows_of(batch_));
    return {training_.input.index_select(0, rows), training_.target.index_select(0, rows)};
  }

  Batch test_batch(int64_t number) override {
    const int64_t begin = number * options_.batch;
    const int64_t count = std::min(options_.batch, info_.test_size - begin);
    return {held_out_.input.narrow(0, begin, count), held_out_.target.narrow(0, begin, count)};
  }

 private:
  /// A table of a run: its training rows decide how all are encoded.
  void read(const std::string& path) {
    const Cells cells = read_cells(path, options_.tables);
    const std::string& test_file = options_.tables.test_file;
    const bool test = options_.evaluate_on == Part::kTest;
    const RowShares shares = {test_file.empty() ? options_.clicks.test_share : 0,
                              options_.clicks.validation_share};
    const RowParts parts = row_parts(cells.rows, shares, options_.evaluate_on, path);
    if (parts.held_out.empty() && (test_file.empty() || !test)) {
      throw Error(
          str(test ? "test-share" : "validation-share", ": leaves no row of ", path, " for the ",
              test ? "test; expected more than 0, or a test-file" : "validation; expected more than 0"));
    }
    encoding_ = find_encoding(cells, parts.training, options_.tables);
    tell_constants();
    const Batch all = encoded(cells, encoding_);
    const auto rows_of = [&](const std::vector<int64_t>& rows) {
      const at::Tensor at = at::tensor(rows);
      return Batch{all.input.index_select(0, at), all.target.index_select(0, at)};
    };
    training_ = rows_of(parts.training);
    held_out_ = test && !test_file.empty() ? encoded(read_new_rows(test_file, encoding_), encoding_)
                                           : rows_of(parts.held_out);
  }

  void tell_constants() const {
    if (!options_.on_message) return;
    std::vector<std::string> names;
    for (size_t i = 0; i < encoding_.numbers.size(); ++i) {
      if (encoding_.scales[i] == 0) names.push_back(encoding_.numbers[i]);
    }
    if (names.empty()) return;
    constexpr size_t kShown = 5;
    const size_t more = names.size() - std::min(names.size(), kShown);
    names.resize(names.size() - more);
    options_.on_message(str("columns with one value in all training rows, which say nothing: ", join(names),
                            more > 0 ? str(" and ", more, " more") : ""));
  }

  DataInfo info_;
  DataOptions options_;
  TableEncoding encoding_;
  Batch training_;
  Batch held_out_;
  int64_t batch_ = 0;
  int64_t epoch_ = -1;
  at::Tensor order_;
};

}  // namespace

std::unique_ptr<Source> open_table(const std::string& path, const DataOptions& options) {
  return std::make_unique<TableSource>(path, options);
}

}  // namespace hewn::data

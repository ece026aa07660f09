#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <limits>

#include "hewn/core/error.h"
#include "hewn/core/random.h"
#include "hewn/data/source.h"
#include "hewn/data/text/reader.h"

namespace hewn::data {
namespace {

namespace fs = std::filesystem;

// The Adventures of Sherlock Holmes, 560,000 characters.
constexpr const char* kUsualText = "/usr/share/gocode/src/github.com/pierrec/lz4/testdata/pg1661.txt";
constexpr const char* kUsualPackage = "golang-github-pierrec-lz4-dev";

fs::path find_text(const std::string& path) {
  fs::path file = path.empty() ? kUsualText : path;
  if (fs::is_regular_file(file)) return file;
  const std::string install = path.empty() ? str("install the package ", kUsualPackage, " or ") : "";
  throw Error(str("data text: no file ", file.string(), "; ", install, "give data as text:FILE"));
}

/// Windows of a text. Those of training lie anywhere in their part, drawn anew for every batch; those that
/// are held out lie one behind the other.
class TextSource final : public Source {
 public:
  TextSource(const std::string& path, const DataOptions& options) : options_(options) {
    if (options.batch < 1) throw Error(str("batch: expected at least 1, got ", options.batch));
    check(options.clicks);  // the shares
    const std::string file = find_text(path).string();
    const std::string text = read_text(file);
    if (text.size() > std::numeric_limits<uint32_t>::max()) throw FormatError(file, "is longer than 4 GiB");
    const bool is_new = is_text_rule(options.preprocessing.rule);
    const std::string alphabet =
        is_new ? alphabet_of(options.preprocessing.rule, "the run's record") : find_alphabet(text);
    if (alphabet.size() < 2) throw FormatError(file, "holds a single character, over and over");
    preprocessing_.rule = text_rule(text, alphabet);
    const auto size = static_cast<int64_t>(text.size());
    parts_ = is_new ? TextParts{0, 0, size}
                    : text_parts(size, options.clicks.test_share, options.clicks.validation_share,
                                 options.evaluate_on);
    if (!is_new) check_long_enough("training", parts_.training, file);
    check_long_enough(options.evaluate_on == Part::kTest ? "test" : "validation", parts_.end - parts_.begin,
                      file);
    std::string numbers = encoded_text(text, alphabet, file);
    text_ = at::from_blob(numbers.data(), {size}, at::TensorOptions(at::kByte)).clone().to(options.device);
    const int64_t context = options.text.context;
    offsets_ = at::arange(context + 1, at::TensorOptions(at::kLong).device(options.device));

    info_.name = "text";
    info_.input = {context};
    info_.classes = static_cast<int64_t>(alphabet.size());
    info_.kind = Kind::kText;
    info_.train_size = is_new ? 0 : (parts_.training - 1) / context;
    info_.test_size = (parts_.end - parts_.begin - 1) / context;
    info_.targets = context;
    batch_ = options.share.batch_within(info_.train_size, options.batch);
  }

  const DataInfo& info() const override { return info_; }
  Preprocessing preprocessing() const override { return preprocessing_; }
  uint32_t fingerprint() const override { return checksum(text_, 0); }
  int64_t train_batches() const override { return batch_ == 0 ? 0 : info_.train_size / batch_; }
  int64_t test_batches() const override { return (info_.test_size + options_.batch - 1) / options_.batch; }

  Batch train_batch(int64_t epoch, int64_t number) override {
    if (epoch != epoch_) prepare(epoch);
    const Share& share = options_.share;
    return windows(starts_.narrow(0, number * batch_ + share.first_of(batch_), share.rows_of(batch_)));
  }

  Batch test_batch(int64_t number) override {
    const int64_t begin = number * options_.batch;
    const int64_t count = std::min(options_.batch, info_.test_size - begin);
    return windows((at::arange(count, offsets_.options()) + begin) * options_.text.context + parts_.begin);
  }

 private:
  void check_long_enough(const char* part, int64_t characters, const std::string& file) const {
    if (characters > options_.text.context) return;
    throw FormatError(file, str("its ", part, " part has ", characters,
                                " characters; expected more than the context of ", options_.text.context));
  }

  /// Where the windows of an epoch begin, one transfer for all of its batches.
  void prepare(int64_t epoch) {
    const auto places = static_cast<uint32_t>(parts_.training - options_.text.context);
    std::vector<int64_t> starts(static_cast<size_t>(info_.train_size));
    for (size_t i = 0; i < starts.size(); ++i) {
      starts[i] = below(draw(options_.seed, Stream::kWindows, static_cast<uint64_t>(epoch), i)[0], places);
    }
    starts_ = at::tensor(starts).to(options_.device);
    epoch_ = epoch;
  }

  /// The characters from there on, and the one behind each of them.
  Batch windows(const at::Tensor& starts) const {
    const int64_t context = options_.text.context;
    const at::Tensor places = starts.unsqueeze(1) + offsets_;
    const at::Tensor seen =
        text_.index_select(0, places.flatten()).view({starts.size(0), context + 1}).to(at::kLong);
    return {seen.narrow(1, 0, context).contiguous(), seen.narrow(1, 1, context).contiguous()};
  }

  DataInfo info_;
  Preprocessing preprocessing_;
  DataOptions options_;
  TextParts parts_;
  at::Tensor text_;     // numbers of characters, uint8
  at::Tensor offsets_;  // 0 to context
  int64_t batch_ = 0;
  int64_t epoch_ = -1;
  at::Tensor starts_;
};

}  // namespace

std::unique_ptr<Source> open_text(const std::string& path, const DataOptions& options) {
  return std::make_unique<TextSource>(path, options);
}

}  // namespace hewn::data

#include "hewn/data/inputs/click_inputs.h"

#include <algorithm>
#include <optional>

#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/data/clicks/numbers/vocabulary.h"
#include "hewn/data/clicks/rows/row_parser.h"
#include "hewn/data/clicks/text/chunks.h"

namespace hewn::data {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 22;

/// Numbers of all rows of a block, row by row.
void number_rows(const ClickRule& rule, const LogColumns& log, const RowBlock& block,
                 std::vector<float>& out) {
  const size_t stride = rule.fields.size();
  std::vector<uint32_t> numbers(block.rows);
  out.resize(block.rows * stride);
  size_t numeric = 0;
  size_t categorical = 0;
  for (const size_t f : log.fields) {
    const ClickField& field = rule.fields[f];
    if (field.numeric) {
      const uint16_t* buckets = block.numeric.data() + block.capacity * numeric++;
      std::copy(buckets, buckets + block.rows, numbers.begin());
    } else {
      const uint64_t* values = block.categorical.data() + block.capacity * categorical++;
      if (field.hash_size == 0) field.vocabulary.find(values, block.rows, kRareNumber, numbers.data());
      for (size_t i = 0; i < block.rows; ++i) {
        if (field.hash_size > 0) numbers[i] = hashed_number(values[i], field.hash_field, field.hash_size);
        if (values[i] == kMissing) numbers[i] = kMissingNumber;
      }
    }
    for (size_t i = 0; i < block.rows; ++i)
      out[i * stride + f] = static_cast<float>(std::min(numbers[i], field.last));
  }
}

/// One log on its way to numbers. Its columns are known once its first line is.
class LogReader {
 public:
  LogReader(const ClickRule& rule, const std::string& where, size_t rows, const ClickInputs::Take& take)
      : rule_(rule), where_(where), rows_(rows), take_(take) {}

  void run(std::unique_ptr<TextStream> text) {
    ChunkReader reader(std::move(text), kChunkBytes, 0);
    Chunk chunk;
    while (!stopped_ && reader.next(chunk)) {
      std::string_view rest = chunk.text();
      while (!stopped_ && !rest.empty()) {
        const std::string_view line = take_line(rest);
        ++line_;
        const bool at_end = rest.empty() && chunk.last;
        if (!line.empty() || !at_end) take_row(line);
      }
    }
    if (!stopped_) flush();
  }

 private:
  [[noreturn]] void reject(const std::string& what) const {
    throw FormatError(str(where_, ":", line_), what);
  }

  void take_row(std::string_view line) {
    if (line.size() > kLongestLine) reject("the line is too long");
    if (!parser_) {
      start(line);
      if (log_.schema.header) return;
    }
    const Parsed parsed = parser_->parse(line, *block_);
    if (parsed.problem != Problem::kNone) reject(parser_->explain(parsed, line));
    if (block_->rows == block_->capacity) flush();
  }

  void start(std::string_view line) {
    try {
      log_ = columns_of(rule_.schema, line);
    } catch (const Error& error) {
      reject(error.what());
    }
    std::vector<std::vector<double>> cuts;
    for (const size_t f : log_.fields) {
      if (rule_.fields[f].numeric) cuts.push_back(rule_.fields[f].cuts);
    }
    parser_.emplace(log_.schema, std::move(cuts));
    block_.emplace(log_.schema, rows_);
  }

  void flush() {
    if (!block_ || block_->rows == 0) return;
    number_rows(rule_, log_, *block_, numbers_);
    stopped_ = !take_(numbers_.data(), static_cast<int64_t>(block_->rows));
    block_->rows = 0;
  }

  const ClickRule& rule_;
  const std::string& where_;
  size_t rows_;
  const ClickInputs::Take& take_;
  LogColumns log_;
  std::optional<RowParser> parser_;
  std::optional<RowBlock> block_;
  std::vector<float> numbers_;
  int64_t line_ = 0;
  bool stopped_ = false;
};

LogColumns by_header(const Schema& trained, std::string_view header) {
  if (header.starts_with("\xef\xbb\xbf")) header.remove_prefix(3);
  std::vector<std::string> names = split_line(header, trained.separator, trained.quotes);
  if (names.size() > static_cast<size_t>(kMostColumns))
    throw Error(str("has more than ", kMostColumns, " columns"));
  const std::vector<Column> fields = trained.fields();
  LogColumns out{trained, {}};
  out.schema.columns.clear();
  std::vector<bool> found(fields.size());
  for (std::string& name : names) {
    name = valid_utf8(name);
    Column& column = out.schema.columns.emplace_back(Column{name});
    for (size_t f = 0; f < fields.size(); ++f) {
      if (fields[f].name != name || found[f]) continue;
      column.role = fields[f].role;
      found[f] = true;
      out.fields.push_back(f);
      break;
    }
  }
  const auto missing = std::find(found.begin(), found.end(), false);
  if (missing != found.end()) {
    const std::string& name = fields[static_cast<size_t>(missing - found.begin())].name;
    throw Error(str("the header has no column \"", name, "\", which the model was trained on",
                    did_you_mean(name, names)));
  }
  return out;
}

}  // namespace

LogColumns columns_of(const Schema& trained, std::string_view first_line) {
  if (trained.header) return by_header(trained, first_line);
  LogColumns out{trained, {}};
  const size_t columns = split_line(first_line, trained.separator, trained.quotes).size();
  std::vector<Column>& all = out.schema.columns;
  const auto label =
      std::find_if(all.begin(), all.end(), [](const Column& c) { return c.role == Role::kLabel; });
  const bool unlabelled = label != all.end() && columns + 1 == all.size();
  if (!unlabelled && columns != all.size()) {
    throw Error(str("expected ", all.size(), " columns, ",
                    label != all.end() ? str("or ", all.size() - 1, " without the label, ") : "", "got ",
                    columns));
  }
  if (label != all.end()) label->role = Role::kIgnored;
  if (unlabelled) all.erase(label);
  out.fields.resize(trained.fields().size());
  for (size_t f = 0; f < out.fields.size(); ++f) out.fields[f] = f;
  return out;
}

void ClickInputs::read(const std::filesystem::path& path, int64_t rows, const Take& take) const {
  read(open_text(path), path.string(), rows, take);
}

void ClickInputs::read(std::unique_ptr<TextStream> text, const std::string& where, int64_t rows,
                       const Take& take) const {
  LogReader(rule_, where, static_cast<size_t>(rows), take).run(std::move(text));
}

}  // namespace hewn::data

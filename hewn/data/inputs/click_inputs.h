#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hewn/data/clicks/text/text_stream.h"
#include "hewn/data/inputs/click_rule.h"

namespace hewn::data {

/// Turns the rows of new click logs into inputs, as training did: values that it has not seen have the number
/// of rare ones. A label is not looked at and may be left out. Logs with a header may have their columns in
/// any order, and others beside them.
class ClickInputs {
 public:
  /// Gets rows x fields numbers; false: no more are wanted.
  using Take = std::function<bool(const float* rows, int64_t count)>;

  explicit ClickInputs(ClickRule rule) : rule_(std::move(rule)) {}

  /// A log as text, gzip or zstd, so many rows at a time. Throws FormatError that names the first malformed
  /// row: one that is left out would shift all answers behind it.
  void read(const std::filesystem::path& path, int64_t rows, const Take& take) const;
  /// The same for text that is called `where`.
  void read(std::unique_ptr<TextStream> text, const std::string& where, int64_t rows, const Take& take) const;

 private:
  ClickRule rule_;
};

/// The columns of a log whose first line is this one, by the schema of training: `fields[i]` is the number in
/// training of the i-th field here. Throws Error where a field is not there.
struct LogColumns {
  Schema schema;
  std::vector<size_t> fields;
};
LogColumns columns_of(const Schema& trained, std::string_view first_line);

}  // namespace hewn::data

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace hewn::data {

/// The text of a file from its beginning: plain, gzip (any number of members) or zstd (any number of frames),
/// told apart by the first bytes. Damaged or truncated data throws FormatError.
class TextStream {
 public:
  virtual ~TextStream() = default;

  /// Fills the buffer; less than `size` bytes come only at the end.
  virtual size_t read(char* buffer, size_t size) = 0;
  /// Moves forward over so many bytes of text, as far as there are any.
  virtual void skip(uint64_t bytes) = 0;
  /// Bytes of the file itself that were used so far.
  virtual int64_t position() const = 0;
};

std::unique_ptr<TextStream> open_text(const std::filesystem::path& path);

/// Text that is in memory already, as it is.
std::unique_ptr<TextStream> text_of(std::string bytes);

}  // namespace hewn::data

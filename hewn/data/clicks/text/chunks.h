#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "hewn/data/clicks/text/text_stream.h"

namespace hewn::data {

/// A longer line is malformed, so that memory stays bounded whatever a file holds. So is a line longer than a
/// chunk.
constexpr size_t kLongestLine = size_t{1} << 20;

/// The lines of a file that start in one range of its text, cut at newlines: chunk n owns the lines whose
/// first byte lies in [n * size, (n + 1) * size). So chunks depend on the text only, not on how it was packed
/// or read. A line longer than the size of a chunk comes cut off.
struct Chunk {
  uint64_t number = 0;
  bool last = false;     // of the file
  int64_t position = 0;  // bytes of the file used so far
  size_t begin = 0;      // of its first line in `bytes`
  std::vector<char> bytes;

  std::string_view text() const { return std::string_view(bytes.data(), bytes.size()).substr(begin); }
};

/// Takes the first line off the text: without its newline and a carriage return before that.
std::string_view take_line(std::string_view& text);

class ChunkReader {
 public:
  /// Starts with chunk `first`.
  ChunkReader(const std::filesystem::path& path, size_t size, uint64_t first);
  ChunkReader(std::unique_ptr<TextStream> stream, size_t size, uint64_t first);
  /// False at the end of the file. `chunk` may be one to use again.
  bool next(Chunk& chunk);

 private:
  void read_block(std::vector<char>& block);

  std::unique_ptr<TextStream> stream_;
  size_t size_;
  uint64_t number_;
  bool at_line_start_;       // whether block_ begins with one
  std::vector<char> block_;  // what was read behind the chunks given out so far
};

}  // namespace hewn::data

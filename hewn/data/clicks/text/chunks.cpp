#include "hewn/data/clicks/text/chunks.h"

#include <algorithm>
#include <cstring>

namespace hewn::data {
namespace {

/// Bytes up to and with the first newline; all of them where there is none.
size_t line_end(const std::vector<char>& block) {
  const void* newline = block.empty() ? nullptr : std::memchr(block.data(), '\n', block.size());
  if (newline == nullptr) return block.size();
  return static_cast<size_t>(static_cast<const char*>(newline) - block.data()) + 1;
}

}  // namespace

std::string_view take_line(std::string_view& text) {
  const void* newline = text.empty() ? nullptr : std::memchr(text.data(), '\n', text.size());
  const size_t length =
      newline == nullptr ? text.size() : static_cast<size_t>(static_cast<const char*>(newline) - text.data());
  std::string_view line = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

ChunkReader::ChunkReader(const std::filesystem::path& path, size_t size, uint64_t first)
    : ChunkReader(open_text(path), size, first) {}

ChunkReader::ChunkReader(std::unique_ptr<TextStream> stream, size_t size, uint64_t first)
    : stream_(std::move(stream)), size_(size), number_(first), at_line_start_(true) {
  if (first > 0) {
    // The byte before the chunk says whether a line starts with it.
    char before = '\n';
    stream_->skip(first * size - 1);
    if (stream_->read(&before, 1) == 1) at_line_start_ = before == '\n';
  }
  read_block(block_);
}

void ChunkReader::read_block(std::vector<char>& block) {
  block.resize(size_);
  block.resize(stream_->read(block.data(), size_));
}

bool ChunkReader::next(Chunk& chunk) {
  if (block_.empty()) return false;
  const bool continues = block_.back() != '\n';
  chunk.number = number_++;
  chunk.begin = at_line_start_ ? 0 : line_end(block_);
  chunk.bytes.swap(block_);
  at_line_start_ = !continues;
  read_block(block_);
  chunk.last = block_.empty();
  // A line that goes on into the next block ends this chunk. Whole blocks inside of a line own none.
  if (continues && chunk.begin < chunk.bytes.size()) {
    const auto rest = static_cast<std::ptrdiff_t>(line_end(block_));
    chunk.bytes.insert(chunk.bytes.end(), block_.begin(), block_.begin() + rest);
  }
  chunk.position = stream_->position();
  return true;
}

}  // namespace hewn::data

#include "hewn/data/clicks/rows/chunk_parser.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace hewn::data {

ChunkParser::ChunkParser(const Schema& schema, size_t chunk_size)
    : schema_(schema),
      longest_line_(std::min(kLongestLine, chunk_size)),
      rows_(schema),
      block_(schema, rows_per_group(schema)) {}

void ChunkParser::flush(Record& record) {
  if (block_.rows == 0) return;
  encoder_.encode(block_, record.payload);
  record.rows += block_.rows;
  record.clicks += std::accumulate(
      block_.labels.begin(), block_.labels.begin() + static_cast<std::ptrdiff_t>(block_.rows), uint64_t{0});
  ++record.groups;
  block_.rows = 0;
}

void ChunkParser::parse(const Chunk& chunk, Record& record) {
  std::vector<char> payload = std::move(record.payload);
  payload.clear();
  record = {};
  record.payload = std::move(payload);
  record.chunk = chunk.number;
  record.last = chunk.last;
  std::string_view text = chunk.text();
  while (!text.empty()) {
    const void* newline = std::memchr(text.data(), '\n', text.size());
    const size_t length = newline == nullptr
                              ? text.size()
                              : static_cast<size_t>(static_cast<const char*>(newline) - text.data());
    std::string_view line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    const uint64_t number = record.lines++;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (number == 0 && chunk.number == 0 && schema_.header) continue;
    if (line.empty() && text.empty() && chunk.last)
      continue;  // an empty line at the end of a file is nothing
    const Parsed parsed =
        line.size() > longest_line_ ? Parsed{Problem::kTooLong, 0} : rows_.parse(line, block_);
    if (parsed.problem != Problem::kNone) {
      if (record.first.size() < kBadRowsShown) record.first.push_back({number, rows_.explain(parsed, line)});
      ++record.bad;
    }
    if (block_.rows == block_.capacity) flush(record);
  }
  flush(record);
}

}  // namespace hewn::data

#include "hewn/data/clicks/rows/chunk_parser.h"

#include <algorithm>
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
    const std::string_view line = take_line(text);
    const uint64_t number = record.lines++;
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

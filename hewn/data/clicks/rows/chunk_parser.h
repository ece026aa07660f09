#pragma once

#include "hewn/data/clicks/rows/raw_group.h"
#include "hewn/data/clicks/rows/spool.h"
#include "hewn/data/clicks/text/chunks.h"

namespace hewn::data {

/// So many malformed rows are described; the others are counted.
constexpr size_t kBadRowsShown = 5;

/// Turns chunks of text into records. One per thread; it keeps its memory between calls.
class ChunkParser {
 public:
  ChunkParser(const Schema& schema, size_t chunk_size);
  /// Fills everything of the record but its file.
  void parse(const Chunk& chunk, Record& record);

 private:
  void flush(Record& record);

  Schema schema_;
  size_t longest_line_;
  RowParser rows_;
  RowBlock block_;
  GroupEncoder encoder_;
};

}  // namespace hewn::data

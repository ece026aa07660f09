// Feeds arbitrary bytes to what reads click logs: as rows of Criteo's format and of a CSV file, as a schema,
// as the cache file of a build, and as a packed log; and as a book. Built by ./dev fuzz with clang's
// libFuzzer. The first byte chooses.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "hewn/core/error.h"
#include "hewn/data/clicks/cache/cache_file.h"
#include "hewn/data/clicks/rows/chunk_parser.h"
#include "hewn/data/clicks/text/chunks.h"
#include "hewn/data/text/reader.h"

namespace {

using namespace hewn::data;

constexpr size_t kChunk = 4096;

void parse_rows(std::string_view text, ChunkParser& parser) {
  Chunk chunk;
  chunk.last = true;
  chunk.bytes.assign(text.begin(), text.end());
  Record record;
  parser.parse(chunk, record);
  if (record.rows + record.bad > record.lines) __builtin_trap();
}

// Kept from one input to the next: they hold much memory.
ChunkParser& criteo_parser() {
  static ChunkParser parser(criteo_schema(), kChunk);
  return parser;
}

ChunkParser& csv_parser() {
  static const Schema schema = resolve(
      parse_schema("label = 1\nnumeric = 2-3\ncategorical = 4-5\nignore = 6\nheader = false\n", "fuzz"), "",
      "fuzz");
  static ChunkParser parser(schema, kChunk);
  return parser;
}

/// The first line is a header, the rest a schema.
void parse_schema_text(std::string_view text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const SchemaFile file = parse_schema(text.substr(std::min(end + 1, text.size())), "fuzz");
  const Schema schema = resolve(file, text.substr(0, end), "fuzz");
  if (schema.fields().empty()) __builtin_trap();
  schema.to_json().dump();
}

std::string write(std::string_view bytes) {
  static const std::string path = "/tmp/hewn-click-log-fuzz-" + std::to_string(getpid());
  std::FILE* file = std::fopen(path.c_str(), "wb");
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
  return path;
}

/// Chunks stay small, whatever a file unpacks to.
void read_log(std::string_view bytes) {
  constexpr int kMostChunks = 256;  // a small file may unpack to much
  ChunkReader reader(write(bytes), kChunk, 0);
  Chunk chunk;
  for (int i = 0; i < kMostChunks && reader.next(chunk); ++i) {
    if (chunk.bytes.size() > 3 * kChunk) __builtin_trap();
  }
}

void read_book(std::string_view bytes) {
  const std::string text = read_text(write(bytes));
  const std::string alphabet = find_alphabet(text);
  if (encoded_text(text, alphabet, "fuzz").size() != text.size()) __builtin_trap();
  if (alphabet.size() > 1 && alphabet_of(text_rule(text, alphabet), "fuzz") != alphabet) __builtin_trap();
}

/// Checksums are not looked at, or they would stop nearly every mutation; nor is the size in the header.
void open_cache(std::string bytes) {
  CacheHeader header;
  if (bytes.size() < sizeof(header)) return;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.file_bytes = bytes.size();
  std::memcpy(bytes.data(), &header, sizeof(header));
  const CacheFile cache(write(bytes), false);
  for (size_t g = 0; g < cache.groups().size(); ++g) cache.group(g);
  for (size_t f = 0; f < cache.fields().size(); ++f) cache.vocabulary(f);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (data[0] % 6 == 0) parse_rows(rest, criteo_parser());
    if (data[0] % 6 == 1) parse_rows(rest, csv_parser());
    if (data[0] % 6 == 2) parse_schema_text(rest);
    if (data[0] % 6 == 3) open_cache(std::string(rest));
    if (data[0] % 6 == 4) read_log(rest);
    if (data[0] % 6 == 5) read_book(rest);
  } catch (const hewn::Error&) {
  }
  return 0;
}

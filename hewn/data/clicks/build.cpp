#include <algorithm>
#include <chrono>
#include <optional>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/data/clicks/cache/cache_writer.h"
#include "hewn/data/clicks/prepare.h"
#include "hewn/data/clicks/rows/chunk_parser.h"
#include "hewn/data/plumbing/pipeline.h"

namespace hewn::data {
namespace {

namespace fs = std::filesystem;

// Each holds a chunk and its rows, about 30 MB.
constexpr size_t kMostThreads = 16;

void empty_folder(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) entries.push_back(entry.path());
  for (const fs::path& entry : entries) fs::remove(entry, ignored);
  fs::remove(folder, ignored);
}

/// A chunk on its way from the reader through a parser to the spool.
struct Item {
  uint32_t file = 0;
  Chunk chunk;
  Record record;
};

class Builder {
 public:
  explicit Builder(const CacheBuild& build)
      : build_(build),
        threads_(std::clamp<size_t>(build.request.threads == 0 ? processors() : build.request.threads, 1,
                                    kMostThreads)),
        spool_path_(build.paths.building / "spool"),
        begin_(std::chrono::steady_clock::now()) {
    claim_folder();
    for (const SourceFile& file : build.files) total_bytes_ += file.size;
    file_rows_.resize(build.files.size());
  }

  void run() {
    Spool spool(spool_path_, build_.schema.count(Role::kCategorical), build_.schema.count(Role::kNumeric));
    read_rows(spool);
    check_bad_rows(rows_, bad_, build_.request.options.bad_rows, first_bad());
    if (rows_ == 0) throw Error(str("data ", build_.request.format, ": no rows in ", build_.request.path));
    check_unchanged();

    Numbering numbering(build_.paths.building, spool_path_, spool.groups());
    const ClickOptions& options = build_.request.options;
    numbering.run(
        {static_cast<uint64_t>(options.min_count), static_cast<uint64_t>(options.hash_size), threads_},
        [&](size_t done) {
          report("counting values", static_cast<int64_t>(done),
                 static_cast<int64_t>(numbering.fields().size()));
        });
    const Split split(options, file_rows_);
    const fs::path temporary = build_.paths.building / "cache";
    write_cache(temporary, {build_.schema, spool_path_, spool.groups(), numbering, split, metadata()},
                threads_, [&](int64_t bytes, int64_t total) { report("writing the cache", bytes, total); });
    publish(temporary, build_.paths.file);
    empty_folder(build_.paths.building);
  }

 private:
  /// Keeps what a build with the same key has left behind, removes everything else.
  void claim_folder() {
    const fs::path key_file = build_.paths.building / "key.json";
    const std::string key = build_.key.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (is_there(key_file) && read_file(key_file) == key) return;
    empty_folder(build_.paths.building);
    fs::create_directories(build_.paths.building);
    write_file_atomically(key_file, key);
  }

  void read_rows(Spool& spool) {
    uint32_t file = 0;
    uint64_t chunk = 0;
    for (const Record& record : spool.found()) {
      take(record);
      file = record.file + (record.last ? 1 : 0);
      chunk = record.last ? 0 : record.chunk + 1;
    }
    if (!spool.found().empty() && build_.request.on_message) {
      build_.request.on_message(
          str("going on with an unfinished build of the cache: ", rows_, " rows are there"));
    }
    std::optional<ChunkReader> reader;
    const auto produce = [&](Item& item) {
      for (; file < build_.files.size(); ++file, chunk = 0, reader.reset()) {
        if (!reader) reader.emplace(build_.files[file].path, build_.request.chunk, chunk);
        item.file = file;
        if (reader->next(item.chunk)) return true;
      }
      return false;
    };
    std::vector<std::unique_ptr<ChunkParser>> parsers;
    for (size_t t = 0; t < threads_; ++t) {
      parsers.push_back(std::make_unique<ChunkParser>(build_.schema, build_.request.chunk));
    }
    Pipeline<Item>(threads_).run(
        produce,
        [&](size_t thread, Item& item) {
          parsers[thread]->parse(item.chunk, item.record);
          item.record.file = item.file;
        },
        [&](Item& item) {
          take(item.record);
          spool.append(item.record);
          read_bytes_ = bytes_before(item.file) + item.chunk.position;
        },
        [&] { report("reading rows", read_bytes_, total_bytes_); });
  }

  /// Counts a record; they come in the order of the text.
  void take(const Record& record) {
    if (record.file != file_) line_ = 0;
    file_ = record.file;
    for (const BadRow& row : record.first) {
      if (bad_rows_.size() >= kBadRowsShown) break;
      bad_rows_.push_back(
          str(build_.files[file_].path.string(), ":", line_ + row.line + 1, ": ", row.reason));
      if (build_.request.on_message)
        build_.request.on_message(str(bad_rows_.back(), "; the row is left out"));
    }
    line_ += record.lines;
    rows_ += record.rows;
    clicks_ += record.clicks;
    bad_ += record.bad;
    file_rows_[file_] += record.rows;
    // Hopeless files are not read to their end.
    constexpr uint64_t kEnough = 1000;
    const double share = build_.request.options.bad_rows;
    const bool hopeless = static_cast<double>(bad_) > 10 * share * static_cast<double>(rows_ + bad_);
    if (bad_ > kEnough && hopeless) check_bad_rows(rows_, bad_, share, first_bad());
  }

  std::string first_bad() const { return bad_rows_.empty() ? "" : bad_rows_[0]; }

  int64_t bytes_before(uint32_t file) const {
    int64_t out = 0;
    for (uint32_t f = 0; f < file; ++f) out += build_.files[f].size;
    return out;
  }

  void check_unchanged() const {
    for (const SourceFile& file : build_.files) {
      const SourceFile now = look_at(file.path);
      if (now.size != file.size || now.modified != file.modified) {
        throw Error(str(file.path.string(), ": changed while it was read"));
      }
    }
  }

  Json metadata() const {
    Json files = Json::array();
    for (size_t f = 0; f < build_.files.size(); ++f) {
      files.push_back(
          {{"name", valid_utf8(build_.files[f].path.filename().string())}, {"rows", file_rows_[f]}});
    }
    Json bad = Json::array();
    for (const std::string& row : bad_rows_) bad.push_back(valid_utf8(row));
    return {{"key", build_.key},     {"rows", rows_},     {"bad_rows", bad_},
            {"first_bad_rows", bad}, {"clicks", clicks_}, {"files", files}};
  }

  void report(const char* what, int64_t bytes, int64_t total) {
    const auto now = std::chrono::steady_clock::now();
    if (!build_.request.on_preparation || now - reported_ < kTick) return;
    reported_ = now;
    build_.request.on_preparation({what, bytes, total, static_cast<int64_t>(rows_),
                                   std::chrono::duration<double>(now - begin_).count()});
  }

  const CacheBuild& build_;
  size_t threads_;
  fs::path spool_path_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point reported_;
  int64_t total_bytes_ = 0;
  int64_t read_bytes_ = 0;
  uint32_t file_ = 0;
  uint64_t line_ = 0;
  uint64_t rows_ = 0;
  uint64_t clicks_ = 0;
  uint64_t bad_ = 0;
  std::vector<std::string> bad_rows_;
  std::vector<uint64_t> file_rows_;
};

}  // namespace

void build_cache(const CacheBuild& build) {
  try {
    Builder(build).run();
  } catch (const WriteError& error) {
    // A full disk should not stay full.
    empty_folder(build.paths.building);
    throw Error(str("the cache ", build.paths.file.string(), " cannot be built: ", error.what()));
  }
}

}  // namespace hewn::data

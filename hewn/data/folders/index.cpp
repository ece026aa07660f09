#include "hewn/data/folders/index.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/data/plumbing/hash.h"

namespace hewn::data {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kVersion = 2;
constexpr uint32_t kTwoParts = 1;  // the version that had no validation part; packs may hold it
// Clocks of file systems move in steps. What changed this shortly before it was listed may have changed once
// more within the same step.
constexpr int64_t kClockStep = 20'000'000;

struct IndexHeader {
  char magic[8] = {'H', 'E', 'W', 'N', 'I', 'M', 'G', '\n'};
  uint32_t version = kVersion;
  uint32_t crc = 0;    // of all that follows the header
  int64_t listed = 0;  // nanoseconds since 1970
  uint64_t bytes = 0;  // behind the header
};
static_assert(sizeof(IndexHeader) == 32);

template <class T>
void put(std::string& out, const T* items, size_t count) {
  const uint64_t size = count;
  out.append(reinterpret_cast<const char*>(&size), sizeof(size));
  out.append(reinterpret_cast<const char*>(items), count * sizeof(T));
}
void put(std::string& out, std::string_view text) { put(out, text.data(), text.size()); }

void put(std::string& out, const ImageList& list) {
  put(out, list.labels.data(), list.labels.size());
  put(out, list.ends.data(), list.ends.size());
  put(out, list.text);
}

/// Takes what put() wrote. Nothing is believed before it is checked.
class Taker {
 public:
  Taker(std::string_view rest, const std::string& path) : rest_(rest), path_(path) {}

  [[noreturn]] void damaged(const std::string& what) const {
    throw FormatError(path_, str("is damaged: ", what));
  }

  template <class Items>
  void take(Items& out) {
    using T = typename Items::value_type;
    uint64_t count = 0;
    if (rest_.size() < sizeof(count)) damaged("it ends too early");
    std::memcpy(&count, rest_.data(), sizeof(count));
    rest_.remove_prefix(sizeof(count));
    if (count > rest_.size() / sizeof(T)) damaged("it ends too early");
    out.resize(count);
    if (count > 0) std::memcpy(out.data(), rest_.data(), count * sizeof(T));  // nothing has no address
    rest_.remove_prefix(count * sizeof(T));
  }

  void take(ImageList& out, size_t classes) {
    take(out.labels);
    take(out.ends);
    take(out.text);
    uint64_t end = 0;
    bool fits = out.ends.size() == out.labels.size();
    for (size_t i = 0; fits && i < out.labels.size(); ++i) {
      fits = out.labels[i] < classes && out.ends[i] >= end;
      end = out.ends[i];
    }
    if (!fits || end != out.text.size()) damaged("its list of images does not fit");
  }

  /// What version 2 has more, and the lists themselves.
  void take_lists(ImageListing& out, uint32_t version) {
    std::vector<uint8_t> whole(1, 0);
    if (version > kTwoParts) take(whole);
    if (whole.size() != 1 || whole[0] > 1) damaged("its layout is unknown");
    out.whole = whole[0] == 1;
    take(out.train, out.classes.size());
    if (version > kTwoParts) take(out.validation, out.classes.size());
    take(out.test, out.classes.size());
    const bool held_out = out.whole ? out.validation.size() + out.test.size() == 0 : out.test.size() > 0;
    if (out.train.size() == 0 || !held_out) damaged("its list of images does not fit");
  }

  void take_end() const {
    if (!rest_.empty()) damaged("it is too long");
  }

 private:
  std::string_view rest_;
  const std::string& path_;
};

/// Lines as one text.
template <class Items, class Line>
std::string joined(const Items& items, const Line& line) {
  std::string out;
  for (const auto& item : items) out += line(item) + '\0';
  return out;
}

std::vector<std::string> separated(const std::string& text) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\0', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

IndexHeader header_of(std::string_view bytes, const std::string& path) {
  IndexHeader header;
  if (bytes.size() < sizeof(header)) throw FormatError(path, "is damaged: it is too short");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.magic, IndexHeader().magic, sizeof(header.magic)) != 0) {
    throw FormatError(path, "is no index of images");
  }
  return header;
}

/// "" where nothing has changed since; else the path that has.
std::string changed(const fs::path& folder, const ImageListing& listing, int64_t listed) {
  if (listing.whole && class_folders(folder) != listing.classes) return ".";
  for (const SeenPath& seen : listing.seen) {
    const bool settled = seen.modified < listed - kClockStep;
    if (!settled || modified(folder / seen.path) != seen.modified) return seen.path;
  }
  return "";
}

}  // namespace

std::string index_bytes(const ImageListing& listing, int64_t listed) {
  std::string body;
  std::vector<int64_t> times;
  for (const SeenPath& seen : listing.seen) times.push_back(seen.modified);
  put(body, joined(listing.classes, [](const std::string& name) { return name; }));
  put(body, joined(listing.seen, [](const SeenPath& seen) { return seen.path; }));
  put(body, times.data(), times.size());
  const uint8_t whole = listing.whole ? 1 : 0;
  put(body, &whole, 1);
  put(body, listing.train);
  put(body, listing.validation);
  put(body, listing.test);
  IndexHeader header;
  header.crc = crc32(body);
  header.listed = listed;
  header.bytes = body.size();
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) + body;
}

ImageListing parse_index(std::string_view bytes, const std::string& path, int64_t* listed) {
  const IndexHeader header = header_of(bytes, path);
  if (header.version != kVersion && header.version != kTwoParts) {
    throw FormatError(path, str("has version ", header.version));
  }
  bytes.remove_prefix(sizeof(header));
  Taker taker(bytes, path);
  if (header.bytes != bytes.size() || header.crc != crc32(bytes))
    taker.damaged("its checksum does not match");
  ImageListing out;
  std::string classes;
  std::string paths;
  std::vector<int64_t> times;
  taker.take(classes);
  taker.take(paths);
  taker.take(times);
  out.classes = separated(classes);
  const std::vector<std::string> seen = separated(paths);
  if (seen.size() != times.size()) taker.damaged("its list of folders does not fit");
  for (size_t i = 0; i < seen.size(); ++i) out.seen.push_back({seen[i], times[i]});
  taker.take_lists(out, header.version);
  taker.take_end();
  *listed = header.listed;
  return out;
}

fs::path index_file(const fs::path& folder, const std::string& cache) {
  if (cache.empty()) return folder / ".hewn-cache" / "imagefolder.index";
  std::array<char, 32> hash{};
  const std::string whole = fs::absolute(folder).lexically_normal().string();
  std::snprintf(hash.data(), hash.size(), "%08x", static_cast<unsigned>(hash_text(whole)));
  return fs::path(cache) / str("imagefolder-", hash.data(), ".index");
}

ImageListing indexed_images(const fs::path& folder, const std::string& cache,
                            const std::function<void(const std::string&)>& say) {
  const fs::path file = index_file(folder, cache);
  const auto tell = [&](const std::string& text) {
    if (say) say(text);
  };
  if (is_there(file)) {
    try {
      int64_t listed = 0;
      const std::string bytes = read_file(file);
      ImageListing known = parse_index(bytes, file.string(), &listed);
      // An earlier one does not know of all folders that may matter now.
      if (header_of(bytes, file.string()).version != kVersion)
        throw FormatError(file.string(), "is of an earlier version");
      const std::string why = changed(folder, known, listed);
      if (why.empty()) return known;
      tell(str((folder / why).lexically_normal().string(), ": has changed; listing the images anew"));
    } catch (const Error& error) {
      tell(str(error.what(), "; listing the images anew"));
    }
  }
  if (!is_there(file)) tell(str(folder.string(), ": listing the images, this once"));
  const int64_t listed = now();
  ImageListing fresh = list_images(folder);
  try {
    make_writable_folder(file.parent_path());
    write_file_atomically(file, index_bytes(fresh, listed));
  } catch (const Error& error) {
    tell(str("the list of images is not kept: ", error.what(), "; choose another folder as cache"));
  }
  return fresh;
}

}  // namespace hewn::data

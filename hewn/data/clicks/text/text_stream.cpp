#include "hewn/data/clicks/text/text_stream.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "hewn/core/error.h"
#include "hewn/data/clicks/text/zstd_stream.h"
#include "hewn/data/plumbing/input_file.h"

namespace hewn::data {
namespace {

constexpr size_t kInput = size_t{1} << 22;

class PlainStream final : public TextStream {
 public:
  explicit PlainStream(const std::filesystem::path& path)
      : file_(path), size_(static_cast<uint64_t>(file_.size())) {}

  size_t read(char* buffer, size_t size) override {
    const size_t got = file_.read(buffer, size);
    position_ += got;
    return got;
  }
  void skip(uint64_t bytes) override {
    position_ += std::min(bytes, size_ - std::min(size_, position_));
    file_.seek(position_);
  }
  int64_t position() const override { return static_cast<int64_t>(position_); }

 private:
  InputFile file_;
  uint64_t size_;
  uint64_t position_ = 0;
};

class MemoryStream final : public TextStream {
 public:
  explicit MemoryStream(std::string bytes) : bytes_(std::move(bytes)) {}

  size_t read(char* buffer, size_t size) override {
    const size_t got = bytes_.copy(buffer, size, position_);
    position_ += got;
    return got;
  }
  void skip(uint64_t bytes) override { position_ += std::min(bytes, bytes_.size() - position_); }
  int64_t position() const override { return static_cast<int64_t>(position_); }

 private:
  std::string bytes_;
  size_t position_ = 0;
};

class GzipStream final : public PackedStream {
 public:
  explicit GzipStream(const std::filesystem::path& path) : file_(path), input_(kInput) {
    // 16: a gzip header, not zlib's own.
    if (inflateInit2(&state_, MAX_WBITS + 16) != Z_OK) throw Error(str(file_.path(), ": zlib has no memory"));
  }
  ~GzipStream() override { inflateEnd(&state_); }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  size_t read(char* buffer, size_t size) override {
    size_t done = 0;
    while (done < size) {
      if (state_.avail_in == 0 && !refill()) break;
      if (between_members_) {
        inflateReset(&state_);
        between_members_ = false;
      }
      const auto room = static_cast<uInt>(std::min<size_t>(size - done, size_t{1} << 30));
      state_.next_out = reinterpret_cast<Bytef*>(buffer + done);
      state_.avail_out = room;
      const int code = inflate(&state_, Z_NO_FLUSH);
      done += room - state_.avail_out;
      if (code == Z_STREAM_END) between_members_ = true;
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
        throw FormatError(file_.path(), str("is damaged: ", state_.msg != nullptr ? state_.msg : "bad data"));
      }
    }
    return done;
  }
  int64_t position() const override { return position_ - static_cast<int64_t>(state_.avail_in); }

 private:
  bool refill() {
    const size_t got = file_.read(input_.data(), input_.size());
    position_ += static_cast<int64_t>(got);
    state_.next_in = reinterpret_cast<Bytef*>(input_.data());
    state_.avail_in = static_cast<uInt>(got);
    if (got == 0 && !between_members_)
      throw FormatError(file_.path(), "is truncated: its gzip data ends early");
    return got > 0;
  }

  InputFile file_;
  std::vector<char> input_;
  z_stream state_{};
  int64_t position_ = 0;
  bool between_members_ = false;
};

}  // namespace

void PackedStream::skip(uint64_t bytes) {
  std::vector<char> dropped(size_t{1} << 20);
  while (bytes > 0) {
    const size_t wanted = std::min<uint64_t>(bytes, dropped.size());
    const size_t got = read(dropped.data(), wanted);
    if (got < wanted) return;
    bytes -= got;
  }
}

std::unique_ptr<TextStream> open_text(const std::filesystem::path& path) {
  using namespace std::string_view_literals;
  std::array<char, 4> magic{};
  const size_t got = InputFile(path).read(magic.data(), magic.size());
  const std::string_view start(magic.data(), got);
  if (start.starts_with("\x1f\x8b"sv)) return std::make_unique<GzipStream>(path);
  if (start == "\x28\xb5\x2f\xfd"sv) return open_zstd(path);
  return std::make_unique<PlainStream>(path);
}

std::unique_ptr<TextStream> text_of(std::string bytes) {
  return std::make_unique<MemoryStream>(std::move(bytes));
}

}  // namespace hewn::data

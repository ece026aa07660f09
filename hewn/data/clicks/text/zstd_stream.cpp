#include "hewn/data/clicks/text/zstd_stream.h"

#include <zstd.h>

#include <vector>

#include "hewn/core/error.h"
#include "hewn/data/plumbing/input_file.h"

namespace hewn::data {
namespace {

constexpr size_t kPackedInput = size_t{1} << 22;

class ZstdStream final : public PackedStream {
 public:
  explicit ZstdStream(const std::filesystem::path& path)
      : file_(path), input_(kPackedInput), state_(ZSTD_createDStream(), ZSTD_freeDStream) {
    if (!state_) throw Error(str(file_.path(), ": zstd has no memory"));
  }

  size_t read(char* buffer, size_t size) override {
    ZSTD_outBuffer out{buffer, size, 0};
    while (out.pos < size) {
      // A full output may have left text inside the library: then it is asked before the file is.
      if (in_.pos == in_.size && (frame_ended_ || starved_) && !refill()) break;
      const size_t code = ZSTD_decompressStream(state_.get(), &out, &in_);
      if (ZSTD_isError(code) != 0) {
        throw FormatError(file_.path(), str("is damaged: ", ZSTD_getErrorName(code)));
      }
      frame_ended_ = code == 0;
      starved_ = out.pos < size;
    }
    return out.pos;
  }
  int64_t position() const override { return position_ - static_cast<int64_t>(in_.size - in_.pos); }

 private:
  bool refill() {
    const size_t got = file_.read(input_.data(), input_.size());
    position_ += static_cast<int64_t>(got);
    in_ = {input_.data(), got, 0};
    if (got == 0 && !frame_ended_) {
      throw FormatError(file_.path(), "is truncated: its zstd data ends early");
    }
    return got > 0;
  }

  InputFile file_;
  std::vector<char> input_;
  std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> state_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  int64_t position_ = 0;
  bool frame_ended_ = true;
  bool starved_ = false;
};

}  // namespace

std::unique_ptr<TextStream> open_zstd(const std::filesystem::path& path) {
  return std::make_unique<ZstdStream>(path);
}

}  // namespace hewn::data

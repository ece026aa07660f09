#include <chrono>
#include <deque>
#include <utility>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/data/folders/image_reader.h"
#include "hewn/data/folders/index.h"
#include "hewn/data/folders/pack.h"
#include "hewn/data/folders/pack_format.h"
#include "hewn/data/plumbing/output_file.h"
#include "hewn/data/plumbing/pipeline.h"

namespace hewn::data {
namespace {

/// One image on its way from a file to the pack.
struct PackItem {
  size_t number = 0;
  std::string bytes;
  int64_t source_bytes = 0;
  bool resized = false;
};

class Packer {
 public:
  explicit Packer(const PackRequest& request)
      : request_(request),
        images_(indexed_images(request.folder, request.cache, request.on_message)),
        readers_(request.workers),
        file_(request.file),
        out_(file_, request.file) {
    if (file_.direct()) {
      throw Error(
          str(request.file.string(), ": cannot be written: a pack needs a file, not a pipe or a device"));
    }
  }

  Packed run() {
    const PackHeader empty;
    out_.append(&empty, sizeof(empty));
    size_t next = 0;
    Pipeline<PackItem> pipeline(request_.workers);
    pipeline.run(
        [&](PackItem& item) {
          item.number = next++;
          return item.number < total();
        },
        [&](size_t worker, PackItem& item) { make(readers_[worker], item); },
        [&](PackItem& item) { write(item); }, [&] { report(); });
    finish();
    done_.seconds = seconds();
    return done_;
  }

 private:
  size_t total() const { return images_.size(); }

  void make(ImageReader& reader, PackItem& item) const {
    item.bytes = read_file(request_.folder / images_.path(item.number));
    item.source_bytes = static_cast<int64_t>(item.bytes.size());
    item.resized = false;
    if (request_.short_side == 0) return;
    try {
      std::string smaller = reader.resized(item.bytes, request_.short_side);
      item.resized = !smaller.empty();
      if (item.resized) item.bytes = std::move(smaller);
    } catch (const DamagedImage&) {
      // Stays as it is: whoever trains with it hears of it.
    }
  }

  void write(const PackItem& item) {
    offsets_.push_back(out_.size());
    out_.append(item.bytes.data(), item.bytes.size());
    done_.source_bytes += item.source_bytes;
    done_.resized += item.resized ? 1 : 0;
    ++done_.images;
  }

  void finish() {
    offsets_.push_back(out_.size());
    images_.seen.clear();  // a pack does not change
    const std::string index = index_bytes(images_, 0);
    const std::string_view offsets(reinterpret_cast<const char*>(offsets_.data()),
                                   offsets_.size() * sizeof(uint64_t));
    PackHeader header;
    header.crc = crc32(offsets, crc32(index));
    header.index = out_.size();
    header.offsets = header.index + index.size();
    header.file_bytes = header.offsets + offsets.size();
    out_.append(index.data(), index.size());
    out_.append(offsets.data(), offsets.size());
    out_.write_at(&header, sizeof(header), 0);
    file_.publish();
    done_.bytes = static_cast<int64_t>(header.file_bytes);
  }

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  void report() const {
    if (!request_.on_preparation) return;
    request_.on_preparation(
        {"packing images", done_.images, static_cast<int64_t>(total()), done_.images, seconds()});
  }

  const PackRequest& request_;
  ImageListing images_;
  std::deque<ImageReader> readers_;
  NewFile file_;
  OutputFile out_;
  std::vector<uint64_t> offsets_;
  Packed done_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

Packed pack_images(const PackRequest& request) { return Packer(request).run(); }

}  // namespace hewn::data

// Stands in for zstd_stream.cpp where the library is not installed.
#include "hewn/core/error.h"
#include "hewn/data/clicks/text/zstd_stream.h"

namespace hewn::data {

std::unique_ptr<TextStream> open_zstd(const std::filesystem::path& path) {
  throw Error(
      str(path.string(),
          ": is packed by zstd, and this hewn was built without it; install libzstd-dev and build again"
          " with -DHEWN_ZSTD=ON, or unpack the file"));
}

}  // namespace hewn::data

#pragma once

#include <filesystem>
#include <memory>

#include "hewn/data/clicks/text/text_stream.h"

namespace hewn::data {

/// A stream that can move forward only by unpacking.
class PackedStream : public TextStream {
 public:
  void skip(uint64_t bytes) final;
};

/// Throws Error where hewn was built without zstd.
std::unique_ptr<TextStream> open_zstd(const std::filesystem::path& path);

}  // namespace hewn::data

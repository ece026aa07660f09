#pragma once

#include <cstddef>
#include <cstdint>

namespace hewn::io {

/// Bytes in order, of a known number.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// All bytes, read or not.
  virtual uint64_t size() const = 0;
  /// Exactly so many; throws FormatError where there are fewer.
  virtual void read(char* to, size_t count) = 0;
};

}  // namespace hewn::io

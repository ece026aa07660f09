#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "hewn/core/error.h"
#include "hewn/core/new_file.h"

namespace hewn::data {

/// A file could not be written: the disk is full, or the folder is gone.
class WriteError : public Error {
 public:
  using Error::Error;
};

/// A file open for writing. Every failure throws WriteError with the path and the system's reason.
class OutputFile {
 public:
  enum class Mode : uint8_t { kCreate, kContinue };

  /// A file that is made takes the place of what had its name; none is written to through a link.
  OutputFile(const std::filesystem::path& path, Mode mode);
  /// One that takes its place when it is published.
  OutputFile(const NewFile& file, const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// At the end of what append() wrote, or of the file that is continued.
  void append(const void* data, size_t size);
  /// Anywhere; threads may share the file.
  void write_at(const void* data, size_t size, uint64_t offset) const;
  /// Cuts the file; append() goes on from there.
  void truncate(uint64_t size);
  void sync() const;
  uint64_t size() const { return size_; }

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

/// Gives a finished, synced file its final name, so that it survives a crash of the machine.
void publish(const std::filesystem::path& temporary, const std::filesystem::path& path);

}  // namespace hewn::data

#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace hewn::io {

/// Writes TensorBoard's event files: TFRecord frames around Event protocol buffers. A resumed run opens a new
/// file; `first_step` tells TensorBoard to forget what older files hold from that step on.
class EventWriter {
 public:
  EventWriter(const std::filesystem::path& folder, int64_t first_step);

  /// One scalar per tag at a step.
  void scalars(int64_t step, const std::vector<std::pair<std::string, double>>& values);
  void flush() { file_.flush(); }

 private:
  void record(const std::string& event);

  std::ofstream file_;
};

/// CRC-32C (Castagnoli), as TFRecord uses it.
uint32_t crc32c(std::string_view data);

}  // namespace hewn::io

#include "hewn/io/tensorboard.h"

#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>

#include "hewn/core/error.h"
#include "hewn/core/files.h"

namespace hewn::io {
namespace {

// Protocol-buffer wire format. Field numbers are those of tensorflow's event.proto and summary.proto.
std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}

std::string fixed(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
  return out;
}

enum WireType : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
std::string key(uint64_t field, WireType type) { return varint(field << 3 | type); }
std::string message(uint64_t field, const std::string& body) {
  return key(field, kBytes) + varint(body.size()) + body;
}

std::string event(int64_t step, const std::string& what) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  return key(1, kFixed64) + fixed(std::bit_cast<uint64_t>(now.count()), 8) +  // wall_time
         key(2, kVarint) + varint(static_cast<uint64_t>(step)) + what;        // step
}

uint32_t masked_crc(std::string_view data) {
  const uint32_t crc = crc32c(data);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

}  // namespace

uint32_t crc32c(std::string_view data) {
  static const std::array<uint32_t, 256> kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82f63b78U : 0U);
      table[i] = value;
    }
    return table;
  }();
  uint32_t crc = ~0U;
  for (const char byte : data) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

EventWriter::EventWriter(const std::filesystem::path& folder, int64_t first_step) {
  make_writable_folder(folder);
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  // TensorBoard reads the files of a folder in the order of their names: time first, then the process.
  const std::filesystem::path path =
      folder / str("events.out.tfevents.", now, ".", first_step, ".", ::getpid(), ".hewn");
  file_.open(path, std::ios::binary);
  if (!file_) throw Error(str(path.string(), ": cannot be written"));
  record(event(0, message(3, "brain.Event:2")));  // file_version
  if (first_step > 0)
    record(event(first_step, message(7, key(1, kVarint) + varint(1))));  // session_log: START
  file_.flush();
}

void EventWriter::scalars(int64_t step, const std::vector<std::pair<std::string, double>>& values) {
  std::string summary;
  for (const auto& [tag, value] : values) {
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
    summary += message(1, message(1, tag) + key(2, kFixed32) + fixed(bits, 4));  // Summary.Value
  }
  record(event(step, message(5, summary)));
}

void EventWriter::record(const std::string& body) {
  const std::string length = fixed(body.size(), 8);
  file_ << length << fixed(masked_crc(length), 4) << body << fixed(masked_crc(body), 4);
}

}  // namespace hewn::io

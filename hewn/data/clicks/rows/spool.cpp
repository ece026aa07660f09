#include "hewn/data/clicks/rows/spool.h"

#include <cstring>
#include <string_view>

#include "hewn/core/files.h"
#include "hewn/data/plumbing/input_file.h"

namespace hewn::data {
namespace {

constexpr uint32_t kMagic = 0x31505348;

struct Header {
  uint32_t magic = kMagic;
  uint32_t file = 0;
  uint64_t chunk = 0;
  uint64_t lines = 0;
  uint64_t rows = 0;
  uint64_t clicks = 0;
  uint64_t bad = 0;
  uint64_t payload = 0;  // bytes
  uint64_t reasons = 0;  // bytes behind the payload
  uint32_t last = 0;
  uint32_t groups = 0;
  uint32_t payload_crc = 0;  // with the reasons
  uint32_t crc = 0;          // of what stands before it
};
static_assert(sizeof(Header) == 80);

uint32_t crc_of(const Header& header) {
  return crc32({reinterpret_cast<const char*>(&header), sizeof(Header) - sizeof(uint32_t)});
}

std::string packed(const std::vector<BadRow>& rows) {
  std::string out;
  for (const BadRow& row : rows) out += str(row.line, ' ', row.reason, '\n');
  return out;
}

std::vector<BadRow> unpacked(std::string_view text) {
  std::vector<BadRow> out;
  while (!text.empty()) {
    const size_t space = text.find(' ');
    const size_t end = text.find('\n');
    if (space == std::string_view::npos || end == std::string_view::npos || end < space) break;
    out.push_back({std::strtoull(std::string(text.substr(0, space)).c_str(), nullptr, 10),
                   std::string(text.substr(space + 1, end - space - 1))});
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace

Spool::Spool(const std::filesystem::path& path, size_t categorical, size_t numeric)
    : path_(path), categorical_(categorical), numeric_(numeric), file_(path, OutputFile::Mode::kContinue) {
  recover();
}

void Spool::append(const Record& record) {
  const std::string reasons = packed(record.first);
  Header header;
  header.file = record.file;
  header.chunk = record.chunk;
  header.lines = record.lines;
  header.rows = record.rows;
  header.clicks = record.clicks;
  header.bad = record.bad;
  header.payload = record.payload.size();
  header.reasons = reasons.size();
  header.last = record.last ? 1 : 0;
  header.groups = record.groups;
  header.payload_crc = crc32(reasons, crc32({record.payload.data(), record.payload.size()}));
  header.crc = crc_of(header);
  const uint64_t offset = file_.size() + sizeof(header);
  file_.append(&header, sizeof(header));
  file_.append(record.payload.data(), record.payload.size());
  file_.append(reasons.data(), reasons.size());
  index_groups(record.payload, record.groups, offset, record.file);
}

/// False where the payload does not hold so many groups; only for records that were read back.
bool Spool::index_groups(const std::vector<char>& payload, uint32_t groups, uint64_t offset, uint32_t file) {
  const size_t head = 4 * (1 + categorical_ + numeric_);
  uint64_t at = 0;
  for (uint32_t g = 0; g < groups; ++g) {
    if (payload.size() - at < head) return false;
    SpooledGroup group{offset + at, file, {}};
    const char* from = payload.data() + at;
    const auto word = [&] {
      uint32_t out = 0;
      std::memcpy(&out, from, sizeof(out));
      from += sizeof(out);
      return out;
    };
    group.shape.rows = word();
    for (size_t f = 0; f < categorical_; ++f) group.shape.sizes.push_back(word());
    for (size_t c = 0; c < numeric_; ++c) group.shape.largest.push_back(word());
    const uint64_t bytes = group.shape.bytes();
    if (payload.size() - at < bytes) return false;
    at += bytes;
    groups_.push_back(std::move(group));
  }
  return at == payload.size();
}

void Spool::recover() {
  InputFile in(path_);
  const uint64_t size = file_.size();
  uint64_t at = 0;
  std::vector<char> payload;
  std::string reasons;
  while (size - at >= sizeof(Header)) {
    Header header;
    in.read_at(&header, sizeof(header), at);
    const uint64_t left = size - at - sizeof(header);
    if (header.magic != kMagic || header.crc != crc_of(header) || header.payload > left ||
        header.reasons > left - header.payload) {
      break;
    }
    payload.resize(header.payload);
    reasons.resize(header.reasons);
    in.read_at(payload.data(), payload.size(), at + sizeof(header));
    in.read_at(reasons.data(), reasons.size(), at + sizeof(header) + payload.size());
    if (crc32(reasons, crc32({payload.data(), payload.size()})) != header.payload_crc) break;
    if (!index_groups(payload, header.groups, at + sizeof(header), header.file)) break;
    found_.push_back({header.file,
                      header.chunk,
                      header.last != 0,
                      header.lines,
                      header.rows,
                      header.clicks,
                      header.bad,
                      unpacked(reasons),
                      header.groups,
                      {}});
    at += sizeof(header) + header.payload + header.reasons;
  }
  file_.truncate(at);
}

}  // namespace hewn::data

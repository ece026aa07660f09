#include "hewn/io/tensorboard.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "hewn/core/files.h"
#include "tests/support/temp_folder.h"

namespace hewn::io {
namespace {

// An independent reader of TFRecord frames and of the protocol-buffer fields that TensorBoard looks at.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool done() const { return bytes_.empty(); }
  std::string_view take(size_t count) {
    EXPECT_LE(count, bytes_.size());
    const std::string_view out = bytes_.substr(0, count);
    bytes_.remove_prefix(std::min(count, bytes_.size()));
    return out;
  }
  template <class T>
  T number() {
    T value{};
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = number<uint8_t>();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }

 private:
  std::string_view bytes_;
};

struct Field {
  uint64_t number;
  uint64_t value = 0;
  std::string_view body;
};

std::vector<Field> fields(std::string_view message) {
  Reader reader(message);
  std::vector<Field> out;
  while (!reader.done()) {
    const uint64_t key = reader.varint();
    Field field{key >> 3, 0, {}};
    switch (key & 7) {
      case 0:
        field.value = reader.varint();
        break;
      case 1:
        field.value = reader.number<uint64_t>();
        break;
      case 2:
        field.body = reader.take(reader.varint());
        break;
      case 5:
        field.value = reader.number<uint32_t>();
        break;
      default:
        ADD_FAILURE() << "wire type " << (key & 7);
    }
    out.push_back(field);
  }
  return out;
}

uint32_t unmask(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8U;
  return (rotated >> 17) | (rotated << 15);
}

std::vector<std::string> records(const std::string& content) {
  Reader reader(content);
  std::vector<std::string> out;
  while (!reader.done()) {
    const std::string_view length = reader.take(8);
    EXPECT_EQ(unmask(reader.number<uint32_t>()), crc32c(length));
    uint64_t size = 0;
    std::memcpy(&size, length.data(), 8);
    const std::string_view body = reader.take(size);
    EXPECT_EQ(unmask(reader.number<uint32_t>()), crc32c(body));
    out.emplace_back(body);
  }
  return out;
}

std::string only_file(const std::filesystem::path& folder) {
  return read_file(std::filesystem::directory_iterator(folder)->path());
}

TEST(TensorBoard, ChecksumMatchesTheStandardExample) { EXPECT_EQ(crc32c("123456789"), 0xe3069283U); }

TEST(TensorBoard, WritesScalarsThatAReaderFinds) {
  const test::TempFolder folder;
  {
    EventWriter writer(folder.path(), 0);
    writer.scalars(300, {{"train/loss", 0.25}, {"lr", -1.5}});
  }
  const auto all = records(only_file(folder.path()));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(fields(all[0])[2].number, 3U);
  EXPECT_EQ(fields(all[0])[2].body, "brain.Event:2");
  const auto event = fields(all[1]);
  EXPECT_EQ(event[0].number, 1U);
  EXPECT_GT(std::bit_cast<double>(event[0].value), 1.7e9);
  EXPECT_EQ(event[1].value, 300U);
  ASSERT_EQ(event[2].number, 5U);
  const auto values = fields(event[2].body);
  ASSERT_EQ(values.size(), 2U);
  const auto first = fields(values[0].body);
  EXPECT_EQ(first[0].body, "train/loss");
  EXPECT_EQ(std::bit_cast<float>(static_cast<uint32_t>(first[1].value)), 0.25F);
  EXPECT_EQ(std::bit_cast<float>(static_cast<uint32_t>(fields(values[1].body)[1].value)), -1.5F);
}

TEST(TensorBoard, AResumedRunTellsFromWhichStepOn) {
  const test::TempFolder folder;
  { EventWriter writer(folder.path(), 120); }
  const auto all = records(only_file(folder.path()));
  ASSERT_EQ(all.size(), 2U);
  const auto event = fields(all[1]);
  EXPECT_EQ(event[1].value, 120U);
  EXPECT_EQ(event[2].number, 7U);
  EXPECT_EQ(fields(event[2].body)[0].value, 1U);
}

}  // namespace
}  // namespace hewn::io

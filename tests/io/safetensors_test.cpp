#include "hewn/io/safetensors.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/random.h"
#include "tests/support/temp_folder.h"

namespace hewn::io {
namespace {

using test::TempFolder;
using test::write_text;

const std::array<float, 6> kValues = {1, 2, 3, 4, 5, 6};

std::map<std::string, TensorView> sample() {
  return {{"b", {DType::kF32, {2, 3}, std::as_bytes(std::span(kValues))}},
          {"a", {DType::kF32, {0, 3}, {}}},
          {"s", {DType::kF32, {}, std::as_bytes(std::span(kValues)).first(4)}}};
}

std::string file_with_header(const std::string& header, const std::string& data) {
  std::string out;
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>((header.size() >> (8 * i)) & 0xff));
  return out + header + data;
}

TEST(Safetensors, RoundTrip) {
  const TempFolder folder;
  for (const bool sealed : {false, true}) {
    write_safetensors(folder / "f", {{"k", "v \"quoted\" \n"}}, sample(), sealed);
    const SafetensorsFile file = read_safetensors(folder / "f", sealed);
    EXPECT_EQ(file.metadata.at("k"), "v \"quoted\" \n");
    ASSERT_EQ(file.tensors.size(), 3U);
    EXPECT_EQ(file.tensors.at("b").shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(std::memcmp(file.tensors.at("b").data.data(), kValues.data(), sizeof(kValues)), 0);
    EXPECT_EQ(file.tensors.at("a").elements(), 0);
  }
}

TEST(Safetensors, ASealNoticesAnyChangedByteAndAnyLength) {
  const TempFolder folder;
  write_safetensors(folder / "f", {{"step", "17"}}, sample(), true);
  const std::string good = read_file(folder / "f");
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    write_text(folder / "f", bad);
    EXPECT_THROW(read_safetensors(folder / "f", true), FormatError) << "byte " << i;
    write_text(folder / "f", good.substr(0, i));
    EXPECT_THROW(read_safetensors(folder / "f", true), FormatError) << "length " << i;
  }
}

TEST(Safetensors, RejectsHostileHeaders) {
  const TempFolder folder;
  const std::string data(8, 'x');
  for (
      const std::string header : {
          R"([1,2])",
          R"({"t":5})",
          R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,9]}})",
          R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})",
          R"({"t":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})",
          R"({"t":{"dtype":"F33","shape":[2],"data_offsets":[0,8]}})",
          R"({"t":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})",
          R"({"t":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8]}})",
          R"({"t":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})",
          R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0]}})",
          R"({"__metadata__":{"a":1}})",
          R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
          R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
          R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"u":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
          R"({"t":{"dtype":"F32","shape":[0,9223372036854775813],"data_offsets":[0,0]}})",
          R"({"t":)",
          R"()",
      }) {
    write_text(folder / "f", file_with_header(header, data));
    EXPECT_THROW(read_safetensors(folder / "f"), FormatError) << header;
  }
  write_text(folder / "f", "short");
  EXPECT_THROW(read_safetensors(folder / "f"), FormatError);
  write_text(folder / "f", std::string(8, '\xff') + "{}");
  EXPECT_THROW(read_safetensors(folder / "f"), FormatError);
}

TEST(Safetensors, RejectsDeepNesting) {
  const std::string deep = std::string(1 << 20, '[') + std::string(1 << 20, ']');
  for (const std::string& header :
       {deep, R"({"t":{"dtype":)" + deep + R"(,"shape":[],"data_offsets":[0,0]}})",
        R"({"t":)" + deep + "}"}) {
    EXPECT_THROW(parse_safetensors(file_with_header(header, ""), "f"), FormatError);
  }
}

TEST(Safetensors, SurvivesRandomDamage) {
  const TempFolder folder;
  write_safetensors(folder / "f", {{"k", "v"}}, sample());
  const std::string good = read_file(folder / "f");
  for (uint64_t i = 0; i < 2000; ++i) {
    std::string bad = good;
    for (uint64_t j = 0; j < 1 + i % 4; ++j) {
      const auto words = draw(i, Stream::kSynthetic, j, 0);
      bad[below(words[0], static_cast<uint32_t>(bad.size()))] = static_cast<char>(words[1]);
    }
    write_text(folder / "f", bad);
    try {
      read_safetensors(folder / "f");
    } catch (const FormatError&) {
    }
  }
}

}  // namespace
}  // namespace hewn::io

#include "hewn/io/npz.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/random.h"
#include "tests/support/temp_folder.h"

namespace hewn::io {
namespace {

using test::TempFolder;
using test::write_text;

std::string little(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  return out;
}

std::string deflated(const std::string& bytes) {
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(bytes.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

struct Member {
  std::string name;
  std::string bytes;
  uint16_t method = 0;
  uint32_t crc_change = 0;
  uint16_t flags = 0;
  uint64_t size_change = 0;
};

/// An archive as NumPy writes it: sizes in the directory, an extra field before the bytes.
std::string archive(const std::vector<Member>& members) {
  std::string out;
  std::string directory;
  for (const Member& m : members) {
    const std::string packed = m.method == 8 ? deflated(m.bytes) : m.bytes;
    const std::string common = little(m.flags, 2) + little(m.method, 2) + little(0, 4) +
                               little(crc32(m.bytes) ^ m.crc_change, 4) + little(packed.size(), 4) +
                               little(m.bytes.size() + m.size_change, 4) + little(m.name.size(), 2);
    directory += "PK\x01\x02" + little(45, 2) + little(45, 2) + common + little(0, 2) + little(0, 2) +
                 little(0, 2) + little(0, 2) + little(0, 4) + little(out.size(), 4) + m.name;
    out += "PK\x03\x04" + little(45, 2) + common + little(5, 2) + m.name + "extra" + packed;
  }
  return out + directory + "PK\x05\x06" + little(0, 4) + little(members.size(), 2) +
         little(members.size(), 2) + little(directory.size(), 4) + little(out.size(), 4) + little(0, 2);
}

/// rows x 2 numbers 0, 1, 2, ... in C order.
std::string npy(int rows) {
  std::string header = str("{'descr': '<f8', 'fortran_order': False, 'shape': (", rows, ", 2), }");
  header.append(117 - header.size(), ' ').push_back('\n');
  std::string out("\x93NUMPY\x01\x00", 8);
  out += little(header.size(), 2) + header;
  for (int i = 0; i < 2 * rows; ++i) {
    const double value = i;
    out.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  return out;
}

TEST(Npz, StoredAndDeflatedMembers) {
  const TempFolder folder;
  // Large enough that bytes go in and out in several pieces.
  write_text(folder / "a.npz", archive({{"y.npy", npy(3)}, {"X.npy", npy(40000), 8}}));
  EXPECT_EQ(npz_arrays(folder / "a.npz"), (std::vector<std::string>{"y", "X"}));
  EXPECT_EQ(read_npz(folder / "a.npz", "y").values, (std::vector<double>{0, 2, 4, 1, 3, 5}));
  const NpyMatrix x = read_npz(folder / "a.npz", "X");
  ASSERT_EQ(x.rows, 40000);
  for (size_t i = 0; i < 40000; ++i) {
    ASSERT_EQ(x.values[i], static_cast<double>(2 * i));
    ASSERT_EQ(x.values[40000 + i], static_cast<double>(2 * i + 1));
  }
}

TEST(Npz, ErrorsNameTheMember) {
  const TempFolder folder;
  const auto message = [&](const std::string& bytes, const std::string& array) -> std::string {
    write_text(folder / "a.npz", bytes);
    try {
      read_npz(folder / "a.npz", array);
    } catch (const FormatError& error) {
      return error.what();
    }
    return "";
  };
  const auto expect = [&](const std::string& bytes, const std::string& part) {
    const std::string text = message(bytes, "X");
    EXPECT_NE(text.find(part), std::string::npos) << "\"" << text << "\" expected: " << part;
  };
  expect(archive({{"a.npy", npy(2)}, {"b.npy", npy(2)}}), "a.npz: has no array X; it has a, b");
  expect(archive({{"X.npy", npy(2), 0, 1}}), "member X.npy is damaged: its checksum does not fit");
  expect(archive({{"X.npy", npy(2), 8, 1}}), "member X.npy is damaged: its checksum does not fit");
  expect(archive({{"X.npy", npy(2), 12}}), "member X.npy is packed by method 12");
  expect(archive({{"X.npy", npy(2), 0, 0, 1}}), "member X.npy is encrypted");
  expect(archive({{"X.npy", npy(2), 8, 0, 0, 1000000}}), "member X.npy cannot have");
  expect(archive({{"X.npy", npy(2), 8, 0, 0, 16}}), "bytes of data, expected 32");
  expect(archive({{"X.npy", npy(2), 0}}).substr(0, 200), "is not a ZIP archive");
  expect("a,b\n1,2\n", "is not a ZIP archive");
  expect("", "is not a ZIP archive");
  expect(archive({{"X.npy", "hello world, this is text"}}), "a.npz, X: is not an NPY file");
}

TEST(Npz, DamagedArchivesNeverCrash) {
  const TempFolder folder;
  const std::string good = archive({{"X.npy", npy(4), 8}, {"y.npy", npy(2)}});
  int survived = 0;
  for (uint64_t i = 0; i < 1500; ++i) {
    std::string bytes = good;
    for (uint64_t k = 0; k < 1 + i % 4; ++k) {
      const auto words = draw(6, Stream::kPattern, i, k);
      const size_t at = below(words[0], static_cast<uint32_t>(bytes.size()));
      if (words[1] % 3 == 0) {
        bytes.erase(at, 1 + words[2] % 5);
      } else {
        bytes[at] = static_cast<char>(words[2] & 0xff);
      }
    }
    write_text(folder / "f.npz", bytes);
    try {
      for (const std::string& name : npz_arrays(folder / "f.npz")) read_npz(folder / "f.npz", name);
      ++survived;
    } catch (const Error&) {
    }
  }
  EXPECT_LT(survived, 1000);  // most damage is seen: checksums cover the numbers
}

TEST(Npz, WhatIsWrittenIsRead) {
  const TempFolder folder;
  const std::vector<float> values = {0, 1, 2, 3, 4, 5.5F};
  write_npz(folder / "a.npz",
            {{"x", npy_bytes(3, 2, values.data())}, {"output", npy_bytes(2, 3, values.data())}});
  EXPECT_EQ(npz_arrays(folder / "a.npz"), (std::vector<std::string>{"x", "output"}));
  const NpyMatrix output = read_npz(folder / "a.npz", "output");
  EXPECT_EQ(output.rows, 2);
  EXPECT_EQ(output.cols, 3);
  EXPECT_EQ(output.values, (std::vector<double>{0, 3, 1, 4, 2, 5.5}));
}

}  // namespace
}  // namespace hewn::io

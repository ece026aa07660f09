#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <functional>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/random.h"
#include "hewn/io/csv.h"
#include "hewn/io/npy.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::io {
namespace {

using test::message_of;
using test::TempFolder;
using test::write_text;

CsvOptions text_of(const std::string& name) {
  CsvOptions options;
  options.text_columns = [name](const std::vector<std::string>& names) {
    std::vector<bool> out;
    for (const std::string& n : names) out.push_back(n == name);
    return out;
  };
  return options;
}

std::string gzip_of(const std::filesystem::path& path, const std::string& text) {
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return read_file(path);
}

TEST(Csv, EveryCutOfAGzipFileIsRefused) {
  const TempFolder folder;
  std::string text = "a,b\n";
  for (uint64_t i = 0; i < 60; ++i) {
    const auto words = draw(1, Stream::kSynthetic, 0, i);
    text += std::to_string(words[0]) + "," + std::to_string(words[1]) + "\n";
  }
  const std::string whole = gzip_of(folder / "a.csv.gz", text);
  EXPECT_EQ(read_csv(folder / "a.csv.gz", {}).rows, 60);
  // A cut that falls on the end of a line leaves a table that looks whole.
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    write_text(folder / "cut.csv.gz", whole.substr(0, bytes));
    EXPECT_THROW(read_csv(folder / "cut.csv.gz", {}), FormatError) << bytes << " of " << whole.size();
  }
  EXPECT_NE(message_of([&] { read_csv(folder / "cut.csv.gz", {}); }).find("ends in the middle"),
            std::string::npos);
}

TEST(Csv, HeaderQuotesLabelsAndLineEnds) {
  const TempFolder folder;
  write_text(folder / "a.csv",
             "\xEF\xBB\xBF\"a,1\" , b ,label\r\n1, 2.5e0,\"x \"\"y\"\"\"\r\n\r\n+3,-4,\"two\nlines\"");
  const Table table = read_csv(folder / "a.csv", text_of("label"));
  EXPECT_TRUE(table.has_header);
  EXPECT_EQ(table.names, (std::vector<std::string>{"a,1", "b", "label"}));
  EXPECT_EQ(table.rows, 2);
  EXPECT_EQ(table.values, (std::vector<double>{1, 3, 2.5, -4}));
  EXPECT_EQ(table.text[0], (std::vector<std::string>{"x \"y\"", "two\nlines"}));
}

TEST(Csv, NoHeaderWhereTheFirstLineHasNumbers) {
  const TempFolder folder;
  write_text(folder / "a.csv", "1,2,a\n3,4,b\n");
  const Table table = read_csv(folder / "a.csv", text_of("column 3"));
  EXPECT_FALSE(table.has_header);
  EXPECT_EQ(table.rows, 2);
  CsvOptions options = text_of("a");
  options.header = Header::kYes;
  EXPECT_EQ(read_csv(folder / "a.csv", options).rows, 1);
}

TEST(Csv, MissingValuesAreCounted) {
  const TempFolder folder;
  write_text(folder / "a.csv", "a,b\n\n1,\nNA,4\n?,nan\n");
  const Table table = read_csv(folder / "a.csv", {});
  EXPECT_EQ(table.missing, 4);
  ASSERT_TRUE(table.first_missing);
  EXPECT_EQ(table.first_missing->line, 3);
  EXPECT_EQ(table.first_missing->column, 1);
  EXPECT_TRUE(std::isnan(table.values[1]));
}

TEST(Csv, ErrorsNameLineAndColumn) {
  const TempFolder folder;
  write_text(folder / "a.csv", "a,b\n1,2\n3,x\n");
  const std::string text = message_of([&] { read_csv(folder / "a.csv", {}); });
  EXPECT_NE(text.find("a.csv: line 3, column \"b\": expected a number, got \"x\""), std::string::npos)
      << text;
  write_text(folder / "b.csv", "a,b\n1,2\n3\n");
  EXPECT_NE(message_of([&] { read_csv(folder / "b.csv", {}); }).find("line 3: has 1 fields, expected 2"),
            std::string::npos);
  write_text(folder / "c.csv", "a,b\n1,\"2\n");
  EXPECT_NE(message_of([&] { read_csv(folder / "c.csv", {}); }).find("not closed"), std::string::npos);
  for (const std::string content : {"", "\n\n", "a,b\n"}) {
    write_text(folder / "d.csv", content);
    EXPECT_THROW(read_csv(folder / "d.csv", {}), FormatError);
  }
  write_text(folder / "e.csv", "1,inf\n");
  EXPECT_THROW(read_csv(folder / "e.csv", {}), FormatError);
  EXPECT_THROW(read_csv(folder / "none.csv", {}), FormatError);
}

TEST(Csv, LongFilesAreReadInPieces) {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 200000; ++i) text += str(i, ",", i * 0.5, ",", -i, "\n");
  write_text(folder / "a.csv", text);
  const Table table = read_csv(folder / "a.csv", {});
  ASSERT_EQ(table.rows, 200000);
  EXPECT_EQ(table.values[199999], 199999);
  EXPECT_EQ(table.values[200000 + 77777], 77777 * 0.5);
}

std::string npy(const std::string& type, const std::string& order, const std::string& shape,
                const std::string& data) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': (" + shape + "), }";
  header.append(117 - header.size(), ' ').push_back('\n');
  std::string out("\x93NUMPY\x01\x00", 8);
  out.push_back(static_cast<char>(header.size()));
  out.push_back(0);
  return out + header + data;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TEST(Npy, TypesAndOrders) {
  const TempFolder folder;
  write_text(folder / "f", npy("<f4", "False", "2, 3", bytes_of<float>({1, 2, 3, 4, 5, 6})));
  EXPECT_EQ(read_npy(folder / "f").values, (std::vector<double>{1, 4, 2, 5, 3, 6}));
  write_text(folder / "f", npy("<f8", "True", "2, 3", bytes_of<double>({1, 2, 3, 4, 5, 6})));
  EXPECT_EQ(read_npy(folder / "f").values, (std::vector<double>{1, 2, 3, 4, 5, 6}));
  write_text(folder / "f", npy("<i8", "False", "3,", bytes_of<int64_t>({7, -8, 9})));
  const NpyMatrix vector = read_npy(folder / "f");
  EXPECT_EQ(vector.rows, 3);
  EXPECT_EQ(vector.cols, 1);
  EXPECT_EQ(vector.values, (std::vector<double>{7, -8, 9}));
  const std::vector<double> values = {1, 2, 3, 4};
  write_npy(folder / "g", 2, 2, values.data());
  EXPECT_EQ(read_npy(folder / "g").values, values);
}

TEST(Tables, TextAndArraysInMemory) {
  const Table table = parse_csv("a,b\n1,2\n3,4\n", "memory", {});
  EXPECT_EQ(table.values, (std::vector<double>{1, 3, 2, 4}));
  EXPECT_EQ(message_of([] { parse_csv("1,2\n3\n", "memory", {}); }),
            "memory: line 2: has 1 fields, expected 2 as in the first line");
  const std::vector<float> values = {0, 1, 2, 3, 4, 5};
  std::string bytes = npy_bytes(2, 3, values.data());
  EXPECT_EQ(parse_npy(bytes, "memory").values, (std::vector<double>{0, 3, 1, 4, 2, 5}));
  // The same numbers as 2 x 3 x 1: samples of any shape.
  bytes.replace(bytes.find("(2, 3), "), 8, "(2,3,1),");
  EXPECT_EQ(parse_npy(bytes, "memory", NpyShape::kAny).cols, 3);
  EXPECT_EQ(message_of([&] { parse_npy(bytes, "memory"); }), "memory: has 3 dimensions, expected 1 or 2");
  EXPECT_NE(message_of([&] { parse_npy(bytes.substr(0, 60), "memory"); }), "");
}

TEST(Npy, LyingHeadersAreRefused) {
  const TempFolder folder;
  const std::string data = bytes_of<double>({1, 2, 3, 4});
  for (const std::string& content :
       {std::string("x"), npy("<f8", "True", "2, 3", data), npy("<f8", "True", "2, 1", data),
        npy(">f8", "True", "2, 2", data), npy("<U8", "True", "1, 1", data),
        npy("<f8", "Perhaps", "2, 2", data), npy("<f8", "True", "2, 1, 2", data),
        npy("<f8", "True", "-2, -2", data),
        npy("<f8", "True", "4611686018427387904, 4611686018427387904", data), npy("<f8", "True", "", data),
        npy("<f8", "True", "2, 2", data).substr(0, 40)}) {
    write_text(folder / "f", content);
    EXPECT_THROW(read_npy(folder / "f"), FormatError);
  }
}

TEST(Tables, DamagedFilesNeverCrash) {
  const TempFolder folder;
  const std::string good_npy = npy("<f4", "False", "2, 3", bytes_of<float>({1, 2, 3, 4, 5, 6}));
  const std::string good_csv = "a,\"b\",c\n1,2,x\n\"3\",4,\"y\"\n5,,z\n";
  for (uint64_t i = 0; i < 800; ++i) {
    for (const bool is_npy : {false, true}) {
      std::string bytes = is_npy ? good_npy : good_csv;
      for (uint64_t k = 0; k < 1 + i % 4; ++k) {
        const auto words = draw(5, Stream::kPattern, i, k);
        const size_t at = below(words[0], static_cast<uint32_t>(bytes.size()));
        if (words[1] % 3 == 0) {
          bytes.erase(at, 1 + words[2] % 5);
        } else {
          bytes[at] = static_cast<char>(words[2] & 0xff);
        }
      }
      write_text(folder / "f", bytes);
      try {
        if (is_npy) {
          read_npy(folder / "f");
        } else {
          read_csv(folder / "f", text_of("c"));
        }
      } catch (const Error&) {
      }
    }
  }
}

}  // namespace
}  // namespace hewn::io

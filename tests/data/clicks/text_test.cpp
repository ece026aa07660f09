// Text of click logs: packed and plain files, chunks, counting of values.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "hewn/core/files.h"
#include "hewn/core/random.h"
#include "hewn/data/clicks/numbers/value_map.h"
#include "hewn/data/clicks/numbers/vocabulary.h"
#include "hewn/data/clicks/rows/row_parser.h"
#include "hewn/data/clicks/text/chunks.h"
#include "hewn/data/clicks/text/text_stream.h"
#include "hewn/data/plumbing/pipeline.h"
#include "tests/data/clicks/support.h"
#include "tests/support/click_logs.h"
#include "tests/support/temp_folder.h"

namespace hewn::data {
namespace {

using test::TempFolder;
using test::write_text;

std::string whole_text(const std::filesystem::path& path, size_t piece) {
  const auto stream = open_text(path);
  std::string out;
  std::string buffer(piece, '\0');
  size_t got = piece;
  while (got == piece) {
    got = stream->read(buffer.data(), piece);
    out.append(buffer, 0, got);
  }
  return out;
}

TEST(ClickText, GzipOfSeveralMembersIsOneText) {
  const TempFolder folder;
  const std::string one = test::criteo_rows(0, 3000);
  const std::string two = test::criteo_rows(3000, 10);
  test::write_gzip(folder / "one.gz", one);
  test::write_gzip(folder / "two.gz", two);
  write_text(folder / "both.gz", read_file(folder / "one.gz") + read_file(folder / "two.gz"));
  EXPECT_EQ(whole_text(folder / "both.gz", 1000), one + two);
  EXPECT_EQ(whole_text(folder / "both.gz", size_t{1} << 24), one + two);
  const auto stream = open_text(folder / "both.gz");
  stream->skip(one.size() + 5);
  std::string rest(two.size(), '\0');
  rest.resize(stream->read(rest.data(), rest.size()));
  EXPECT_EQ(rest, two.substr(5));
}

TEST(ClickText, TruncatedAndDamagedGzipIsNamed) {
  const TempFolder folder;
  test::write_gzip(folder / "a.gz", test::criteo_rows(0, 3000));
  const std::string packed = read_file(folder / "a.gz");
  for (const size_t cut : {size_t{3}, packed.size() / 2, packed.size() - 5, packed.size() - 1}) {
    write_text(folder / "a.gz", packed.substr(0, cut));
    const std::string error = message_of([&] { whole_text(folder / "a.gz", 4096); });
    EXPECT_NE(error.find((folder / "a.gz").string() + ": is truncated"), std::string::npos) << error;
  }
  std::string bad = packed;
  bad[packed.size() - 6] = static_cast<char>(bad[packed.size() - 6] ^ 1);  // in the checksum
  write_text(folder / "a.gz", bad);
  EXPECT_NE(message_of([&] { whole_text(folder / "a.gz", 4096); }).find("is damaged"), std::string::npos);
  write_text(folder / "a.gz", packed + "junk");
  EXPECT_NE(message_of([&] { whole_text(folder / "a.gz", 4096); }).find("is damaged"), std::string::npos);
}

TEST(ClickText, ZstdIsReadOrItsAbsenceExplained) {
  const TempFolder folder;
  const std::string text = test::criteo_rows(0, 3000);
  write_text(folder / "a", text);
  const std::string command = "zstd -q " + (folder / "a").string();
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "the program zstd is absent";
  const std::string packed = read_file(folder / "a.zst");
  const std::string error = message_of([&] { EXPECT_EQ(whole_text(folder / "a.zst", 999), text); });
  if (error != "no error") {
    EXPECT_NE(error.find("-DHEWN_ZSTD=ON"), std::string::npos) << error;
    return;
  }
  write_text(folder / "a.zst", packed + packed);
  EXPECT_EQ(whole_text(folder / "a.zst", 5000), text + text);
  for (const size_t cut : {size_t{5}, packed.size() / 2, packed.size() - 1}) {
    write_text(folder / "a.zst", packed.substr(0, cut));
    EXPECT_NE(message_of([&] { whole_text(folder / "a.zst", 4096); }).find("is truncated"),
              std::string::npos);
  }
  std::string bad = packed;
  bad[packed.size() / 2] = static_cast<char>(bad[packed.size() / 2] ^ 0x55);
  write_text(folder / "a.zst", bad);
  EXPECT_NE(message_of([&] { whole_text(folder / "a.zst", 4096); }).find("a.zst: is "), std::string::npos);
}

/// Lines of all chunks from `first` on; a line that is too long for a chunk is marked by a star.
std::vector<std::string> lines_of_chunks(const std::filesystem::path& path, size_t size, uint64_t first) {
  std::vector<std::string> out;
  ChunkReader reader(path, size, first);
  Chunk chunk;
  while (reader.next(chunk)) {
    std::string text(chunk.text());
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      out.push_back(end > size ? "*" : text.substr(0, end));
      text.erase(0, end + 1);
    }
  }
  return out;
}

TEST(ClickText, ChunksHoldEveryLineOnceWhereverTheyAreCut) {
  const TempFolder folder;
  for (const bool final_newline : {true, false}) {
    std::string text;
    std::vector<std::string> lines;
    for (uint64_t i = 0; i < 60; ++i) {
      lines.push_back(std::string(draw(5, Stream::kPattern, 0, i)[0] % 9, static_cast<char>('a' + i % 26)));
      text += lines.back() + "\n";
    }
    if (!final_newline) text += "end";
    if (!final_newline) lines.emplace_back("end");
    write_text(folder / "a", text);
    for (size_t size = 1; size < text.size() + 2; ++size) {
      std::vector<std::string> expected = lines;
      for (std::string& line : expected) line = line.size() > size ? "*" : line;
      ASSERT_EQ(lines_of_chunks(folder / "a", size, 0), expected) << size;
    }
    // Started in the middle, they go on with the same lines.
    const std::vector<std::string> all = lines_of_chunks(folder / "a", 16, 0);
    for (uint64_t first = 0; first < text.size() / 16; ++first) {
      const std::vector<std::string> rest = lines_of_chunks(folder / "a", 16, first);
      ASSERT_LE(rest.size(), all.size());
      ASSERT_TRUE(std::equal(rest.rbegin(), rest.rend(), all.rbegin())) << first;
      const size_t before = static_cast<size_t>(std::count(
          text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::max<uint64_t>(16 * first, 1) - 1),
          '\n'));
      ASSERT_NEAR(static_cast<double>(all.size() - rest.size()), static_cast<double>(before), 1.0) << first;
    }
  }
}

TEST(ClickValues, CountsAreExactHoweverFewFitIntoMemory) {
  std::vector<uint64_t> values;
  std::map<uint64_t, uint32_t> expected;
  uint64_t missing = 0;
  for (uint64_t i = 0; i < 50000; ++i) {
    const auto words = draw(6, Stream::kPattern, 0, i);
    const uint64_t value = words[0] % 20 == 0 ? kMissing : words[1] % (1 + words[2] % 5000);
    values.push_back(value);
    if (value == kMissing) ++missing;
    if (value != kMissing) ++expected[value];
  }
  const std::vector<uint32_t> ones(values.size(), 1);
  const VisitPieces pieces = [&](const VisitPiece& piece) {
    for (size_t begin = 0; begin < values.size(); begin += 1000)
      piece(values.data() + begin, ones.data(), 1000);
  };
  const Vocabulary all = count_values(pieces, 3, size_t{1} << 20);
  EXPECT_EQ(all.distinct, expected.size());
  EXPECT_EQ(all.missing, missing);
  uint64_t rare = 0;
  size_t kept = 0;
  for (const auto& [value, count] : expected) {
    rare += count < 3 ? count : 0;
    kept += count < 3 ? 0 : 1;
  }
  EXPECT_EQ(all.rare, rare);
  ASSERT_EQ(all.values.size(), kept);
  for (size_t i = 0; i < kept; ++i) {
    ASSERT_EQ(all.values[i].count, expected[all.values[i].value]);
    if (i == 0) continue;
    const CountedValue& a = all.values[i - 1];
    const CountedValue& b = all.values[i];
    ASSERT_TRUE(a.count > b.count || (a.count == b.count && a.value < b.value));
  }
  for (const size_t most : {size_t{2000}, size_t{300}, size_t{64}}) {
    const Vocabulary few = count_values(pieces, 3, most);
    EXPECT_EQ(few.distinct, all.distinct);
    EXPECT_EQ(few.missing, all.missing);
    EXPECT_EQ(few.rare, all.rare);
    ASSERT_TRUE(std::equal(few.values.begin(), few.values.end(), all.values.begin(), all.values.end(),
                           [](const CountedValue& a, const CountedValue& b) {
                             return a.value == b.value && a.count == b.count;
                           }));
  }
}

TEST(ClickValues, MapKeepsAndFinds) {
  ValueMap map;
  for (uint64_t i = 0; i < 10000; ++i) map.insert(i * i, static_cast<uint32_t>(i));
  EXPECT_EQ(map.size(), 10000U);
  const std::vector<uint64_t> wanted = {0, 1, 3, 99980001, kMissing};
  std::vector<uint32_t> found(wanted.size());
  map.find(wanted.data(), wanted.size(), 7, found.data());
  EXPECT_EQ(found, (std::vector<uint32_t>{0, 1, 7, 9999, 7}));
  map.retain([](uint64_t value) { return value % 2 == 0; });
  EXPECT_EQ(map.size(), 5000U);
  map.find(wanted.data(), wanted.size(), 7, found.data());
  EXPECT_EQ(found, (std::vector<uint32_t>{0, 7, 7, 7, 7}));
}

TEST(ClickPipeline, KeepsTheOrderAndPassesErrorsOn) {
  struct Item {
    int number = 0;
    int square = 0;
  };
  for (const size_t threads : {size_t{1}, size_t{3}}) {
    int made = 0;
    std::vector<int> got;
    const auto produce = [&](Item& item) {
      item.number = made;
      return made++ < 500;
    };
    Pipeline<Item>(threads).run(
        produce, [](size_t, Item& item) { item.square = item.number * item.number; },
        [&](Item& item) { got.push_back(item.square); }, [] {});
    ASSERT_EQ(got.size(), 500U);
    for (int i = 0; i < 500; ++i) ASSERT_EQ(got[static_cast<size_t>(i)], i * i);
    made = 0;
    const auto fail = [](bool now, const char* what) {
      if (now) throw Error(what);
    };
    for (const int where : {0, 1, 2}) {
      made = 0;
      EXPECT_EQ(message_of([&] {
                  Pipeline<Item>(threads).run(
                      [&](Item& item) {
                        fail(where == 0 && made == 50, "stopped");
                        return produce(item);
                      },
                      [&](size_t, Item& item) { fail(where == 1 && item.number == 50, "stopped"); },
                      [&](Item& item) { fail(where == 2 && item.number == 50, "stopped"); }, [] {});
                }),
                "stopped");
    }
  }
}

}  // namespace
}  // namespace hewn::data

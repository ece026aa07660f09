#include "hewn/core/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "hewn/core/error.h"
#include "tests/support/temp_folder.h"

namespace hewn {
namespace {

using test::TempFolder;
using test::write_text;

TEST(Files, WritesAtomicallyAndLeavesNoTemporaryFile) {
  const TempFolder folder;
  write_file_atomically(folder / "a", "first");
  write_file_atomically(folder / "a", std::vector<std::string_view>{"sec", "ond"});
  EXPECT_EQ(read_file(folder / "a"), "second");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Files, KeepsTheOldFileWhenWritingFails) {
  const TempFolder folder;
  write_file_atomically(folder / "a", "old");
  std::filesystem::create_directory(folder / "a.tmp");  // the temporary file cannot be made
  EXPECT_THROW(write_file_atomically(folder / "a", "new"), Error);
  EXPECT_EQ(read_file(folder / "a"), "old");
}

TEST(Files, NamesThePathThatCannotBeRead) {
  const TempFolder folder;
  try {
    read_file(folder / "missing");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("missing"), std::string::npos);
  }
}

TEST(Files, ReadsGzipAndNoticesTruncation) {
  const TempFolder folder;
  const std::string path = folder / "a.gz";
  const std::string text(100000, 'x');
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  EXPECT_EQ(read_gzip(path), text);
  const std::string packed = read_file(path);
  write_text(path, packed.substr(0, packed.size() / 2));
  EXPECT_THROW(read_gzip(path), FormatError);
  write_text(path, packed.substr(0, packed.size() - 3));
  EXPECT_THROW(read_gzip(path), FormatError);
}

TEST(Files, LockKeepsOthersOut) {
  const TempFolder folder;
  EXPECT_FALSE(is_locked(folder / "lock"));
  EXPECT_FALSE(std::filesystem::exists(folder / "lock"));
  {
    const FileLock first(folder / "lock");
    EXPECT_TRUE(is_locked(folder / "lock"));
    EXPECT_THROW(FileLock(folder / "lock"), Error);
  }
  EXPECT_FALSE(is_locked(folder / "lock"));
  const FileLock again(folder / "lock");
}

TEST(Files, ChecksumMatchesTheStandardExample) {
  EXPECT_EQ(crc32("123456789"), 0xcbf43926U);
  EXPECT_EQ(crc32("6789", crc32("12345")), 0xcbf43926U);
}

}  // namespace
}  // namespace hewn

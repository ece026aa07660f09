#include "hewn/core/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>
#include <zlib.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <future>

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

size_t entries(const TempFolder& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Files, KeepsTheOldFileWhenWritingFails) {
  const TempFolder folder;
  write_file_atomically(folder / "a", "old");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{100, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string why = refusal([&] { write_file_atomically(folder / "a", std::string(1000, 'x')); });
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_NE(why.find("a: cannot be written: File too large"), std::string::npos) << why;
  EXPECT_EQ(read_file(folder / "a"), "old");
  EXPECT_EQ(entries(folder), 1U);
}

TEST(Files, ReplacesWhatALinkLeadsToAndKeepsTheLink) {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "deep");
  write_text(folder / "deep/file", "old");
  chmod((folder / "deep/file").c_str(), 0600);
  std::filesystem::create_symlink("deep/file", folder / "second");
  std::filesystem::create_symlink("second", folder / "first");
  write_file_atomically(folder / "first", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "first"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "second"));
  EXPECT_EQ(read_file(folder / "deep/file"), "new");
  EXPECT_EQ(std::filesystem::status(folder / "deep/file").permissions(), std::filesystem::perms(0600));
  std::filesystem::create_symlink("not-yet", folder / "dangling");
  write_file_atomically(folder / "dangling", "there");
  EXPECT_EQ(read_file(folder / "not-yet"), "there");
}

TEST(Files, NeverWriteThroughAPlantedLink) {
  const TempFolder folder;
  write_text(folder / "precious", "mine");
  std::filesystem::create_symlink("precious", folder / "a.tmp");
  write_file_atomically(folder / "a", "new");
  EXPECT_EQ(read_file(folder / "precious"), "mine");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "a.tmp"));
  std::filesystem::create_symlink("precious", folder / "lock");
  EXPECT_THROW(FileLock(folder / "lock"), Error);
}

TEST(Files, WriteToPipesAndDevicesAndLeaveThemInPlace) {
  const TempFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  auto reader = std::async(std::launch::async, [&] {
    std::ifstream in(pipe);
    return std::string((std::istreambuf_iterator<char>(in)), {});
  });
  write_file_atomically(pipe, "through");
  EXPECT_EQ(reader.get(), "through");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  // A node of our own, where that is allowed: the machine's must survive the old code too.
  const std::string null = folder / "null";
  if (mknod(null.c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0) {
    try {
      write_file_atomically(null, "gone");
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("Permission denied"), std::string::npos);  // mounted nodev
    }
    EXPECT_TRUE(std::filesystem::is_character_file(null));
  }
  const std::string full = folder / "full";
  if (mknod(full.c_str(), S_IFCHR | 0600, makedev(1, 7)) == 0) {
    EXPECT_THROW(write_file_atomically(full, "gone"), Error);
    EXPECT_TRUE(std::filesystem::is_character_file(full));
  }
}

TEST(Files, WriteToAnOpenDescriptor) {
  const TempFolder folder;
  const int file = open((folder / "out").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(write(file, "before ", 7), 7);
  write_file_atomically("/dev/fd/" + std::to_string(file), "here");
  close(file);
  EXPECT_EQ(read_file(folder / "out"), "before here");
}

TEST(Files, RefuseToReplaceWhatIsNoFile) {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "dir");
  const auto said = [&](const std::string& path) {
    return refusal([&] { write_file_atomically(path, "x"); });
  };
  EXPECT_NE(said(folder / "dir").find("it is a folder"), std::string::npos);
  EXPECT_NE(said((folder / "dir").string() + "/").find("it names a folder"), std::string::npos);
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (folder / "socket").string().copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_NE(said(folder / "socket").find("it is a socket"), std::string::npos);
  close(listener);
  EXPECT_TRUE(std::filesystem::is_socket(folder / "socket"));
  std::filesystem::create_symlink("loop", folder / "loop");
  EXPECT_NE(said(folder / "loop").find("Too many levels"), std::string::npos);
  EXPECT_NE(said(folder / std::string(300, 'n')).find("name too long"), std::string::npos);
}

TEST(Files, TakeTheLongestNamesAndAnyBytes) {
  const TempFolder folder;
  for (const std::string& name : {std::string(255, 'n'), std::string("\xff\xfe")}) {
    write_file_atomically(folder / name, "x");
    EXPECT_EQ(read_file(folder / name), "x");
  }
  EXPECT_EQ(entries(folder), 2U);
}

TEST(Files, TwoWritersOfOneFileDoNotCollide) {
  const TempFolder folder;
  const auto write_often = [&](char c) {
    for (int i = 0; i < 50; ++i) write_file_atomically(folder / "a", std::string(10000, c));
  };
  auto other = std::async(std::launch::async, write_often, 'a');
  write_often('b');
  other.get();
  const std::string content = read_file(folder / "a");
  EXPECT_EQ(content, std::string(10000, content.at(0)));
  EXPECT_EQ(entries(folder), 1U);
}

TEST(Files, ReadOnlyRegularFilesAndWaitForNone) {
  const TempFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(refusal([&] { read_file(pipe); }).find("is not a file"), std::string::npos);
  EXPECT_NE(refusal([&] { read_gzip(pipe, 10); }).find("is not a file"), std::string::npos);
  EXPECT_NE(refusal([&] { read_file("/dev/zero"); }).find("is not a file"), std::string::npos);
  EXPECT_NE(refusal([&] { read_file(folder.path()); }).find("it is a folder"), std::string::npos);
  EXPECT_FALSE(is_locked(pipe));
  std::filesystem::create_symlink("loop", folder / "loop");
  EXPECT_NE(refusal([&] { is_there(folder / "loop"); }).find("Too many levels"), std::string::npos);
  EXPECT_NE(refusal([&] { is_there(folder / std::string(300, 'n')); }).find("name too long"),
            std::string::npos);
  EXPECT_FALSE(is_there(folder / "missing"));
}

TEST(Files, UnpackNoMoreThanWasAskedFor) {
  const TempFolder folder;
  const std::string path = folder / "bomb.gz";
  gzFile file = gzopen(path.c_str(), "wb");
  const std::string zeros(1 << 20, '\0');
  for (int i = 0; i < 20; ++i) gzwrite(file, zeros.data(), static_cast<unsigned>(zeros.size()));
  gzclose(file);
  EXPECT_NE(refusal([&] { read_gzip(path, 1000); }).find("holds more than 1000 bytes"), std::string::npos);
  EXPECT_EQ(read_gzip_start(path, 16), std::string(16, '\0'));
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
  EXPECT_EQ(read_gzip(path, 1 << 20), text);
  const std::string packed = read_file(path);
  write_text(path, packed.substr(0, packed.size() / 2));
  EXPECT_THROW(read_gzip(path, 1 << 20), FormatError);
  write_text(path, packed.substr(0, packed.size() - 3));
  EXPECT_THROW(read_gzip(path, 1 << 20), FormatError);
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

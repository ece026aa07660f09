#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "tests/support/jpegs.h"
#include "tests/support/temp_folder.h"

namespace hewn::data {

inline void put_image(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  test::write_text(path, bytes);
}

/// A wavy picture that tells its number.
inline std::string small_jpeg(int number) {
  return test::jpeg_bytes(test::wavy(20 + number % 7, 24, number));
}

/// Three classes in ImageNet's layout: `train` images and two for the test each.
inline void make_folder(const std::filesystem::path& folder, int train = 7) {
  int number = 0;
  for (const std::string name : {"n03", "n01", "n02"}) {
    for (int i = 0; i < train; ++i) {
      put_image(folder / "train" / name / (name + "_" + std::to_string(i) + ".JPEG"), small_jpeg(number++));
    }
    for (int i = 0; i < 2; ++i) {
      put_image(folder / "val" / name / ("v" + std::to_string(i) + ".jpg"), small_jpeg(number++));
    }
  }
}

/// All folders as old as an index trusts; files written in this instant look young.
inline void make_old(const std::filesystem::path& folder) {
  const auto then = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    std::filesystem::last_write_time(entry.path(), then);
  }
}

}  // namespace hewn::data

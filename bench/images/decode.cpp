// Images a second on one core: what a training sample and a test sample cost up to the pixels of an input,
// from memory and from files, beside bare decoding of whole images from memory. They take turns image by
// image.
//   image_decode FOLDER SIZE RESIZE AREA ROUNDS
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <jpeglib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "hewn/data/folders/image_reader.h"

namespace {

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// libjpeg-turbo with its defaults.
class Bare {
 public:
  Bare() {
    info_.err = jpeg_std_error(&error_);
    jpeg_create_decompress(&info_);
  }
  ~Bare() { jpeg_destroy_decompress(&info_); }
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;

  void decode(const std::string& bytes) {
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&info_, TRUE);
    info_.out_color_space = JCS_RGB;
    jpeg_start_decompress(&info_);
    const size_t stride = size_t{3} * info_.output_width;
    if (pixels_.size() < stride * info_.output_height) pixels_.resize(stride * info_.output_height);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = pixels_.data() + info_.output_scanline * stride;
      jpeg_read_scanlines(&info_, &row, 1);
    }
    jpeg_finish_decompress(&info_);
  }

 private:
  jpeg_decompress_struct info_{};
  jpeg_error_mgr error_{};
  std::vector<uint8_t> pixels_;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

struct Sizes {
  int64_t size;    // of an input
  int64_t resize;  // shorter side before the centre is cut out
  double area;     // smallest share of a random crop
};

struct Images {
  std::vector<std::filesystem::path> files;
  std::vector<std::string> bytes;

  explicit Images(const std::filesystem::path& folder) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".JPEG") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) bytes.push_back(hewn::read_file(file));
  }
};

constexpr size_t kWays = 5;
using Rates = std::vector<std::vector<double>>;  // images a second, by way and round

/// Decodes all images in every way, and adds what each took.
void time_round(const Images& images, const Sizes& sizes, uint64_t round, Rates& rates) {
  // How the heap lies changes the speed of decoding small images by a third: every round has another layout.
  static std::vector<std::unique_ptr<char[]>> shifts;
  shifts.push_back(std::make_unique<char[]>(16 + round * 1232 % 4096));
  Bare bare;
  shifts.push_back(std::make_unique<char[]>(16 + round * 2736 % 4096));
  hewn::data::ImageReader reader;
  std::vector<uint8_t> out(static_cast<size_t>(3 * sizes.size * sizes.size));
  size_t i = 0;
  const auto random = [&](int64_t width, int64_t height) {
    return hewn::data::random_crop(width, height, sizes.area, 0, round, i);
  };
  const auto centre = [&](int64_t width, int64_t height) {
    return hewn::data::centre_crop(width, height, sizes.resize, sizes.size);
  };
  const std::array<std::function<void()>, kWays> ways = {
      [&] { bare.decode(images.bytes[i]); },
      [&] { reader.decode(images.bytes[i], random, sizes.size, out.data()); },
      [&] { reader.decode(images.bytes[i], centre, sizes.size, out.data()); },
      [&] { reader.read(images.files[i], random, sizes.size, out.data()); },
      [&] { reader.read(images.files[i], centre, sizes.size, out.data()); },
  };
  for (size_t k = 0; k < kWays; ++k) {
    const double begin = thread_seconds();
    for (i = 0; i < images.files.size(); ++i) ways[k]();
    rates[k].push_back(static_cast<double>(images.files.size()) / (thread_seconds() - begin));
  }
}

hewn::Json report(const Images& images, const Sizes& sizes, const Rates& rates) {
  const auto over_bare = [&](size_t way) {
    std::vector<double> by_round;
    for (size_t r = 0; r < rates[way].size(); ++r) by_round.push_back(rates[way][r] / rates[0][r]);
    return median(by_round);
  };
  return {{"images", images.files.size()},
          {"size", sizes.size},
          {"bare", median(rates[0])},
          {"train_in_memory", median(rates[1])},
          {"test_in_memory", median(rates[2])},
          {"train", median(rates[3])},
          {"test", median(rates[4])},
          {"train_over_bare", over_bare(1)},
          {"test_over_bare", over_bare(2)},
          {"train_from_files_over_bare", over_bare(3)},
          {"test_from_files_over_bare", over_bare(4)},
          {"rates_by_round", rates}};
}

}  // namespace

int main(int count, char** words) {
  if (count != 6) {
    std::cerr << "usage: image_decode FOLDER SIZE RESIZE AREA ROUNDS\n";
    return 2;
  }
  const Images images(words[1]);
  const Sizes sizes = {std::atoll(words[2]), std::atoll(words[3]), std::atof(words[4])};
  const auto rounds = static_cast<uint64_t>(std::atoll(words[5]));
  Rates rates(kWays);
  for (uint64_t round = 0; round < rounds; ++round) time_round(images, sizes, round, rates);
  std::cout << report(images, sizes, rates).dump() << '\n';
  return 0;
}

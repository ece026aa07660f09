#include "tests/support/tiny_mnist.h"

#include <string>

#include "hewn/core/random.h"
#include "tests/support/temp_folder.h"

namespace hewn::test {
namespace {

std::string big_endian(int value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>((value >> shift) & 0xff));
  return out;
}

void write_set(const std::filesystem::path& folder, const std::string& prefix, int count, uint64_t seed) {
  std::string images = big_endian(0x803) + big_endian(count) + big_endian(28) + big_endian(28);
  std::string labels = big_endian(0x801) + big_endian(count);
  for (int i = 0; i < count; ++i) {
    const int label = i % 10;
    labels.push_back(static_cast<char>(label));
    for (int pixel = 0; pixel < 28 * 28; ++pixel) {
      const auto word =
          draw(seed, Stream::kSynthetic, static_cast<uint64_t>(i), static_cast<uint64_t>(pixel))[0];
      const uint32_t base = pixel % 10 == label ? 110 : 20;
      images.push_back(static_cast<char>(base + below(word, 140)));
    }
  }
  write_text(folder / (prefix + "-images-idx3-ubyte"), images);
  write_text(folder / (prefix + "-labels-idx1-ubyte"), labels);
}

}  // namespace

void write_tiny_mnist(const std::filesystem::path& folder, int train, int test) {
  std::filesystem::create_directories(folder);
  write_set(folder, "train", train, 1);
  write_set(folder, "t10k", test, 2);
}

}  // namespace hewn::test

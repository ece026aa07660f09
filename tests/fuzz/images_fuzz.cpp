// Damaged images and data sets of them. The first byte says which: 0 IDX, 1 and 2 CIFAR, 3 a PNG or JPEG
// file, 4 the index of a folder, 5 a pack.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/data/cifar_records.h"
#include "hewn/data/folders/image_reader.h"
#include "hewn/data/folders/index.h"
#include "hewn/data/folders/pack.h"
#include "hewn/data/folders/pack_format.h"
#include "hewn/data/idx.h"

namespace {

using namespace hewn::data;

std::string write(std::string_view bytes) {
  static const std::string path = "/tmp/hewn-images-fuzz-" + std::to_string(getpid());
  std::FILE* file = std::fopen(path.c_str(), "wb");
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
  return path;
}

void decode(std::string_view bytes) {
  static ImageReader reader;
  const auto [width, height] = reader.measure(bytes);
  if (width < 1 || height < 1) __builtin_trap();
  if (width * height > 1 << 20) return;  // allowed, and slow with sanitizers
  std::vector<uint8_t> pixels(3 * 8 * 8);
  const ChooseCrop all = [](int64_t w, int64_t h) { return centre_crop(w, h, 8, 8); };
  reader.decode(bytes, all, 8, pixels.data());
}

/// With a length and a checksum that fit, or they would stop nearly every mutation.
void seal_index(char* bytes, size_t size) {
  constexpr size_t kHeader = 32;
  constexpr size_t kCrc = 12;
  constexpr size_t kBytes = 24;
  if (size < kHeader) return;
  const uint64_t length = size - kHeader;
  const uint32_t crc = hewn::crc32({bytes + kHeader, length});
  std::memcpy(bytes + kCrc, &crc, sizeof(crc));
  std::memcpy(bytes + kBytes, &length, sizeof(length));
}

void read_index(std::string bytes) {
  seal_index(bytes.data(), bytes.size());
  int64_t listed = 0;
  const ImageListing images = parse_index(bytes, "index", &listed);
  for (size_t i = 0; i < images.size(); ++i) {
    if (images.label(i) >= images.classes.size()) __builtin_trap();
    images.path(i);
  }
}

void read_pack(std::string bytes) {
  PackHeader header;
  if (bytes.size() >= sizeof(header)) {
    std::memcpy(&header, bytes.data(), sizeof(header));
    header.file_bytes = bytes.size();
    if (header.offsets <= bytes.size() && header.index <= header.offsets) {
      seal_index(bytes.data() + header.index, header.offsets - header.index);
      header.crc = hewn::crc32(std::string_view(bytes).substr(header.index));
    }
    if (header.index >= sizeof(header)) std::memcpy(bytes.data(), &header, sizeof(header));
  }
  const ImagePack pack(write(bytes));
  size_t all = 0;
  for (size_t i = 0; i < pack.images().size(); ++i) {
    for (const char c : pack.image(i)) all += static_cast<unsigned char>(c);
  }
  if (all == 1) std::puts("");  // read, not left out
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (data[0] == '0') read_idx(write(rest), 3);
    if (data[0] == '1') parse_cifar(rest, {10}, "cifar");
    if (data[0] == '2') parse_cifar(rest, {20, 100}, "cifar");
    if (data[0] == '3') decode(rest);
    if (data[0] == '4') read_index(std::string(rest));
    if (data[0] == '5') read_pack(std::string(rest));
  } catch (const hewn::Error&) {
  }
  return 0;
}

#include "hewn/io/source_kind.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>

#include "hewn/core/error.h"
#include "hewn/core/json.h"
#include "hewn/io/npy.h"
#include "hewn/io/onnx_start.h"
#include "hewn/io/zip.h"

namespace hewn::io {
namespace {

constexpr size_t kStart = 4096;                   // bytes that tell most kinds apart
constexpr uint64_t kMaxHeader = 100'000'000;      // of safetensors, the format's own limit
constexpr uint64_t kMaxJson = uint64_t{1} << 24;  // of the JSON files that are looked into
constexpr size_t kPrefix = 8;                     // bytes of a safetensors header's length

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// Up to so many bytes from there on; none where the file cannot be read.
std::string bytes_of(const std::filesystem::path& path, uint64_t offset, uint64_t count) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  std::string out(count, '\0');
  file.read(out.data(), static_cast<std::streamsize>(count));
  out.resize(file.bad() ? 0 : static_cast<size_t>(file.gcount()));
  return out;
}

/// One member of a JSON object; null where it has none, discarded where the text is no object. The rest is
/// not kept: a hostile file could ask for much memory.
Json member(std::string_view text, const std::string& key) {
  bool wanted = false;
  Json json = Json::parse(
      text,
      [&](int depth, Json::parse_event_t event, Json& value) {
        if (depth == 1 && event == Json::parse_event_t::key)
          wanted = value.get_ref<const std::string&>() == key;
        return depth == 0 || (wanted && depth <= 2);
      },
      /*allow_exceptions=*/false);
  if (!json.is_object()) return Json(Json::value_t::discarded);
  return json.contains(key) ? json[key] : Json();
}

bool is_file(const std::filesystem::path& path) {
  std::error_code problem;
  return std::filesystem::is_regular_file(path, problem);
}

Json member_of_file(const std::filesystem::path& path, const std::string& key) {
  std::error_code problem;
  if (!is_file(path) || std::filesystem::file_size(path, problem) > kMaxJson) return {};
  return member(bytes_of(path, 0, kMaxJson), key);
}

SourceKind kind_of_folder(const std::filesystem::path& path) {
  if (member_of_file(path / "config.json", "options").is_object()) return SourceKind::kRun;
  return is_file(path / "sweep.json") ? SourceKind::kSweep : SourceKind::kFolder;
}

SourceKind kind_of_safetensors(const std::filesystem::path& path, uint64_t header, uint64_t size) {
  if (header > size - kPrefix) return SourceKind::kDamaged;
  const Json about = member(bytes_of(path, kPrefix, header), "__metadata__");
  if (about.is_discarded()) return SourceKind::kDamaged;
  return about.is_object() && about.contains("hewn.format") ? SourceKind::kModel : SourceKind::kWeights;
}

SourceKind kind_of_archive(const std::filesystem::path& path, std::string_view start) {
  constexpr size_t kName = 30;  // where the first member's name begins
  const auto is_pickle = [](std::string_view name) { return name.ends_with("/data.pkl"); };
  // The first member is told without the directory, which is not read for archives beyond 4 GiB.
  if (start.size() > kName && is_pickle(start.substr(kName, little_endian(start.substr(26, 2))))) {
    return SourceKind::kTorch;
  }
  try {
    bool arrays = false;
    for (const ZipMember& one : read_zip_directory(path)) {
      if (is_pickle(one.name)) return SourceKind::kTorch;
      arrays = arrays || one.name.ends_with(".npy");
    }
    return arrays ? SourceKind::kNpz : SourceKind::kUnknown;
  } catch (const Error&) {
    return SourceKind::kUnknown;
  }
}

SourceKind kind_of_file(const std::filesystem::path& path) {
  std::error_code problem;
  const uint64_t size = std::filesystem::file_size(path, problem);
  if (problem || !std::ifstream(path)) return SourceKind::kUnreadable;
  const std::string start = bytes_of(path, 0, kStart);
  const uint64_t header = little_endian(start.substr(0, kPrefix));
  if (start.size() > kPrefix && start[kPrefix] == '{' && header <= kMaxHeader) {
    return kind_of_safetensors(path, header, size);
  }
  if (start.starts_with("PK\x03\x04")) return kind_of_archive(path, start);
  // A pickle of protocol 2 to 5.
  if (start.size() > 1 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5) return SourceKind::kTorch;
  if (starts_as_npy(start)) return SourceKind::kNpy;
  if (starts_as_image(start)) return SourceKind::kImage;
  if (starts_as_onnx(start, size)) return SourceKind::kOnnx;
  const size_t first = start.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && start[first] == '{' && member_of_file(path, "hewn") == "select") {
    return SourceKind::kSelector;
  }
  return SourceKind::kUnknown;
}

}  // namespace

bool starts_as_image(std::string_view start) {
  return start.starts_with("\x89PNG") || start.starts_with("\xff\xd8\xff") || start.starts_with("GIF8") ||
         (start.starts_with("RIFF") && start.substr(0, 12).ends_with("WEBP"));
}

SourceKind kind_of(const std::filesystem::path& path) {
  std::error_code problem;
  const std::filesystem::file_status status = std::filesystem::status(path, problem);
  switch (status.type()) {
    case std::filesystem::file_type::not_found:
      return SourceKind::kMissing;
    case std::filesystem::file_type::none:
      return SourceKind::kUnreadable;
    case std::filesystem::file_type::directory:
      return kind_of_folder(path);
    case std::filesystem::file_type::regular:
      return kind_of_file(path);
    default:
      return SourceKind::kSpecial;
  }
}

std::string_view name_of(SourceKind kind) {
  constexpr std::array<std::string_view, 16> kNames = {"missing",
                                                       "not readable",
                                                       "a pipe, a device or a socket",
                                                       "a run folder",
                                                       "a sweep folder",
                                                       "a folder without a run's config.json",
                                                       "a model.hewn file",
                                                       "a weights file (safetensors)",
                                                       "a damaged safetensors file",
                                                       "a PyTorch file",
                                                       "an ONNX file",
                                                       "a selector",
                                                       "an NPY file",
                                                       "an NPZ file",
                                                       "an image file",
                                                       "a file of a kind that hewn does not know"};
  return kNames.at(static_cast<size_t>(kind));
}

}  // namespace hewn::io

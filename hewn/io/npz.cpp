#include "hewn/io/npz.h"

#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/io/zip.h"

namespace hewn::io {
namespace {

std::string array_name(const ZipMember& member) {
  return member.name.ends_with(".npy") ? member.name.substr(0, member.name.size() - 4) : member.name;
}

}  // namespace

std::vector<std::string> npz_arrays(const std::filesystem::path& path) {
  std::vector<std::string> out;
  for (const ZipMember& member : read_zip_directory(path)) out.push_back(array_name(member));
  return out;
}

NpyMatrix read_npz(const std::filesystem::path& path, const std::string& array, NpyShape shape) {
  for (const ZipMember& member : read_zip_directory(path)) {
    if (array_name(member) == array)
      return read_npy(*open_zip_member(path, member), path.string() + ", " + array, shape);
  }
  throw FormatError(path.string(), str("has no array ", array, "; it has ", join(npz_arrays(path))));
}

void write_npz(const std::filesystem::path& path,
               const std::vector<std::pair<std::string, std::string>>& arrays) {
  std::vector<std::pair<std::string, std::string_view>> members;
  for (const auto& [name, bytes] : arrays) members.emplace_back(name + ".npy", bytes);
  write_zip(path, members);
}

}  // namespace hewn::io

#include "hewn/core/json_file.h"

#include "hewn/core/error.h"
#include "hewn/core/files.h"

namespace hewn {

void write_json(const std::filesystem::path& path, const Json& json) {
  write_file_atomically(path, json.dump(2) + "\n");
}

Json read_json(const std::filesystem::path& path) {
  Json json = Json::parse(read_file(path), nullptr, false);
  if (json.is_discarded()) throw FormatError(path.string(), "is not valid JSON");
  return json;
}

}  // namespace hewn

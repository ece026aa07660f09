#include "hewn/core/json_file.h"

#include "hewn/core/error.h"
#include "hewn/core/files.h"

namespace hewn {

void write_json(const std::filesystem::path& path, const Json& json) {
  write_file_atomically(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Json read_json(const std::filesystem::path& path) {
  constexpr int kDepth = 32;  // far deeper than any of ours
  Json json = parse_shallow<Json>(read_file(path), kDepth);
  if (json.is_discarded()) throw FormatError(path.string(), "is not valid JSON");
  return json;
}

}  // namespace hewn

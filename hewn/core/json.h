#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hewn {

/// Keeps the order in which keys were added, so that files read the way they were written.
using Json = nlohmann::ordered_json;

/// Parses text from a file that may be hostile. The result is discarded (is_discarded()) where the text is
/// not JSON or nests deeper than `depth`: some of the library's functions recurse, and a value costs far more
/// memory than its bracket.
template <class AnyJson>
AnyJson parse_shallow(std::string_view text, int depth) {
  bool shallow = true;
  AnyJson json = AnyJson::parse(
      text,
      [&](int level, typename AnyJson::parse_event_t, AnyJson&) {
        shallow = shallow && level <= depth;
        return shallow;
      },
      /*allow_exceptions=*/false);
  return shallow ? json : AnyJson(AnyJson::value_t::discarded);
}

/// Text from outside as JSON can hold it: bytes that are not UTF-8 are replaced.
inline std::string valid_utf8(const std::string& text) {
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

}  // namespace hewn

#include "hewn/dist/place.h"

#include <charconv>
#include <cstdlib>
#include <optional>

#include "hewn/core/error.h"

namespace hewn::dist {
namespace {

std::optional<std::string> variable(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return text;
}

int64_t number(const char* name, std::optional<int64_t> usual, int64_t least, int64_t most) {
  const std::optional<std::string> text = variable(name);
  if (!text && usual) return *usual;
  if (!text) throw Error(str("environment: WORLD_SIZE is set, so ", name, " must be too"));
  int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, problem] = std::from_chars(text->data(), end, value);
  if (problem != std::errc() || stop != end || value < least || value > most) {
    throw Error(str("environment: ", name, ": expected a number from ", least, " to ", most, ", got \"",
                    *text, "\""));
  }
  return value;
}

}  // namespace

Place place_from_environment() {
  Place place;
  if (!variable("WORLD_SIZE")) return place;
  constexpr int64_t kMost = 1'000'000;
  place.size = number("WORLD_SIZE", {}, 1, kMost);
  place.rank = number("RANK", {}, 0, place.size - 1);
  place.local_rank = number("LOCAL_RANK", 0, 0, kMost);
  place.local_size = number("LOCAL_WORLD_SIZE", 1, 1, kMost);
  if (place.alone()) return place;
  place.address = variable("MASTER_ADDR").value_or("");
  if (place.address.empty()) throw Error("environment: WORLD_SIZE is set, so MASTER_ADDR must be too");
  place.port = number("MASTER_PORT", {}, 1, 65535);
  place.store_is_up = variable("TORCHELASTIC_USE_AGENT_STORE") == "True";
  return place;
}

}  // namespace hewn::dist

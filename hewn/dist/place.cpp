#include "hewn/dist/place.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
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

int64_t free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  const bool good = socket >= 0 && ::bind(socket, raw, size) == 0 && ::getsockname(socket, raw, &size) == 0;
  const std::string problem = std::strerror(errno);
  if (socket >= 0) ::close(socket);
  if (!good) throw Error(str("no free port on this machine (", problem, ")"));
  return ntohs(address.sin_port);
}

}  // namespace hewn::dist

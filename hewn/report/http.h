#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hewn::report {

/// The part of a request that the server looks at.
struct Request {
  std::string method;
  std::string path;  // up to the question mark
  std::string host;  // without the port, lower case
};

/// An answer, ready to be sent.
struct Answer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

/// Longest request head that is read.
constexpr size_t kLongestHead = 8192;

/// Reads a whole request head (up to and with the empty line). Nothing where it is no HTTP/1 request.
std::optional<Request> parse_request(std::string_view head);

/// Whether a page from elsewhere cannot have made a browser send this host name: a literal address,
/// localhost, or one of those that the server was started for. A name that an attacker owns and points to
/// this machine (DNS rebinding) is none of them.
bool is_own_host(const std::string& host, const std::string& bound, bool remote);

/// Status line, headers and body; without the body for HEAD.
std::string to_bytes(const Answer& answer, bool head_only);
/// The beginning of a stream of server-sent events.
std::string event_stream_head();

}  // namespace hewn::report

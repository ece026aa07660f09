#include "hewn/report/http.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "hewn/core/error.h"

namespace hewn::report {
namespace {

// The page runs its own script and style, talks to its own server and to nobody else.
constexpr std::string_view kHeaders =
    "Cache-Control: no-store\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "X-Content-Type-Options: nosniff\r\n";

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

/// "localhost:80" and "[::1]:80" without the port and the brackets.
std::string without_port(std::string_view host) {
  if (host.starts_with('[')) return lower(host.substr(1, host.find(']') - 1));
  return lower(host.substr(0, host.find(':')));
}

std::string_view reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Service Unavailable";
  }
}

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return ::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || (host.starts_with("127.") && is_address(host));
}

}  // namespace

std::optional<Request> parse_request(std::string_view head) {
  const size_t line_end = head.find('\n');
  if (line_end == std::string_view::npos) return {};
  const std::string_view line = trimmed(head.substr(0, line_end));
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last || !line.substr(last + 1).starts_with("HTTP/1."))
    return {};
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (!target.starts_with('/') || target.find(' ') != std::string_view::npos) return {};
  Request request{std::string(line.substr(0, first)), std::string(target.substr(0, target.find('?'))), ""};
  int hosts = 0;
  for (size_t begin = line_end + 1; begin < head.size();) {
    const size_t end = std::min(head.find('\n', begin), head.size());
    const std::string_view field = trimmed(head.substr(begin, end - begin));
    begin = end + 1;
    const size_t colon = field.find(':');
    if (colon == std::string_view::npos) continue;
    if (lower(field.substr(0, colon)) != "host") continue;
    request.host = without_port(trimmed(field.substr(colon + 1)));
    ++hosts;
  }
  if (hosts > 1) return {};
  return request;
}

bool is_own_host(const std::string& host, const std::string& bound, bool remote) {
  if (is_loopback(host) || (!host.empty() && host == lower(bound))) return true;
  if (!remote) return false;
  std::array<char, 256> own{};
  ::gethostname(own.data(), own.size() - 1);
  return is_address(host) || host == lower(own.data());
}

std::string to_bytes(const Answer& answer, bool head_only) {
  return str("HTTP/1.1 ", answer.status, " ", reason(answer.status), "\r\nContent-Type: ", answer.type,
             "\r\nContent-Length: ", answer.body.size(), "\r\nConnection: close\r\n",
             answer.status == 405 ? "Allow: GET, HEAD\r\n" : "", kHeaders, "\r\n",
             head_only ? "" : answer.body);
}

std::string event_stream_head() {
  return str("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n", kHeaders, "\r\n");
}

}  // namespace hewn::report

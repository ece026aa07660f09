#include "hewn/report/server.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "hewn/core/error.h"

namespace hewn::report {
namespace {

using Clock = std::chrono::steady_clock;

// A comment now and then, so that a listener that has gone is noticed.
constexpr std::chrono::seconds kHeartbeat{15};
constexpr std::chrono::seconds kFarewell{2};
constexpr std::chrono::seconds kStall{1};
constexpr size_t kListeners = 16;

bool is_this_machine(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    return (ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24) == 127;
  }
  return address.sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

std::string event(int64_t version) { return str("event: change\ndata: ", version, "\n\n"); }

}  // namespace

struct Server::Client {
  explicit Client(int socket) : descriptor(socket) {}
  ~Client() { ::close(descriptor); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  int descriptor;
  std::string head;        // of the request, as far as it has come
  bool answered = false;   // nothing more is read
  bool listening = false;  // to events
  std::string out;         // still to be sent
  size_t sent = 0;         // of it
  int64_t told = -1;       // version that a listener knows
  bool drained = false;    // it will send nothing more
  bool leaving = false;    // all is sent; it may take its time to hang up
  bool closed = false;
  Clock::time_point since = Clock::now();  // it last made progress

  bool idle() const { return sent == out.size(); }
};

Server::Server(ServerOptions options, Route route) : options_(std::move(options)), route_(std::move(route)) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (options_.port < 0 || options_.port > 65535)
    throw Error(str("port: expected 0 to 65535, got ", options_.port));
  if (::getaddrinfo(options_.host.c_str(), std::to_string(options_.port).c_str(), &hints, &found) != 0) {
    throw Error(str("host: \"", options_.host, "\" is no address of this machine"));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  if (!options_.remote && !is_this_machine(*found->ai_addr)) {
    throw Error(
        str("host: ", options_.host,
            " can be reached from other machines; add --allow-remote if everyone there may see this run"));
  }
  listener_ = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  if (listener_ >= 0) ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (listener_ < 0 || ::bind(listener_, found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(listener_, 64) != 0) {
    const int problem = errno;
    if (listener_ >= 0) ::close(listener_);
    throw Error(str("port ", options_.port, " of ", options_.host, ": ", std::strerror(problem),
                    problem == EADDRINUSE ? "; --port 0 takes any that is free" : ""));
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&bound), &size);
  port_ = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                            : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

Server::~Server() {
  clients_.clear();
  ::close(listener_);
}

std::string Server::url() const {
  const bool six = options_.host.find(':') != std::string::npos;
  return str("http://", six ? "[" : "", options_.host, six ? "]" : "", ":", port_, "/");
}

bool Server::serve(std::chrono::milliseconds time) {
  const Clock::time_point end = Clock::now() + time;
  for (auto now = Clock::now(); now < end; now = Clock::now()) {
    std::vector<pollfd> polled = {{listener_, POLLIN, 0}};
    for (const auto& client : clients_) {
      // What comes behind a request is read and thrown away: closing with bytes unread would cut the answer
      // off.
      polled.push_back({client->descriptor,
                        static_cast<short>((client->drained ? 0 : POLLIN) | (client->idle() ? 0 : POLLOUT)),
                        0});
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - now).count() + 1;
    const int ready = ::poll(polled.data(), polled.size(), static_cast<int>(std::min<int64_t>(left, 1000)));
    if (ready < 0) return errno != EINTR;
    for (size_t i = 1; i < polled.size(); ++i) {
      Client& client = *clients_[i - 1];
      if ((polled[i].revents & (POLLERR | POLLNVAL)) != 0) client.closed = true;
      if (!client.closed && (polled[i].revents & (POLLIN | POLLHUP)) != 0) read_from(client);
      if (!client.closed && (polled[i].revents & POLLOUT) != 0) write_to(client);
    }
    if ((polled[0].revents & POLLIN) != 0) accept_clients();
    drop_late();
  }
  return true;
}

void Server::accept_clients() {
  for (;;) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0) return;
    if (clients_.size() >= options_.most_clients) make_room();
    clients_.push_back(std::make_unique<Client>(socket));
    if (clients_.size() > options_.most_clients) {
      answer(*clients_.back(), {503, "text/plain; charset=utf-8", "too many clients\n"});
      clients_.back()->closed = true;
    }
  }
}

/// Whoever has not asked for anything yet, or takes nothing, gives way to those who come: the one that has
/// kept the server waiting longest.
void Server::make_room() {
  const auto waits = [](const auto& client) {
    return !client->answered || client->leaving || (!client->idle() && Clock::now() - client->since > kStall);
  };
  auto oldest = clients_.end();
  for (auto one = clients_.begin(); one != clients_.end(); ++one) {
    if (waits(*one) && (oldest == clients_.end() || (*one)->since < (*oldest)->since)) oldest = one;
  }
  if (oldest != clients_.end()) clients_.erase(oldest);
}

void Server::read_from(Client& client) {
  char buffer[4096];
  const ssize_t got = ::recv(client.descriptor, buffer, sizeof buffer, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    // One that has asked may close its side and still wait for the answer.
    client.drained = true;
    client.closed = got < 0 || !client.answered || client.listening || client.leaving;
    return;
  }
  if (client.answered) return;
  client.head.append(buffer, static_cast<size_t>(got));
  if (client.head.find("\r\n\r\n") != std::string::npos || client.head.find("\n\n") != std::string::npos) {
    respond(client);
  } else if (client.head.size() > kLongestHead) {
    answer(client, {431, "text/plain; charset=utf-8", "request head too long\n"});
  }
}

void Server::respond(Client& client) {
  if (client.head.size() > kLongestHead + 4096) {
    return answer(client, {431, "text/plain; charset=utf-8", "request head too long\n"});
  }
  const auto request = parse_request(client.head);
  if (!request) return answer(client, {400, "text/plain; charset=utf-8", "not an HTTP request\n"});
  const bool head_only = request->method == "HEAD";
  if (request->method != "GET" && !head_only) {
    return answer(client, {405, "text/plain; charset=utf-8", "this page can only be read\n"});
  }
  if (!is_own_host(request->host, options_.host, options_.remote)) {
    return answer(client, {403, "text/plain; charset=utf-8", "unknown host name\n"}, head_only);
  }
  if (request->path == "/events" && head_only) {
    client.answered = true;
    client.out = event_stream_head();
    return write_to(client);
  }
  if (request->path == "/events") {
    const auto listeners =
        std::count_if(clients_.begin(), clients_.end(), [](const auto& one) { return one->listening; });
    if (static_cast<size_t>(listeners) >= kListeners) {
      return answer(client, {503, "text/plain; charset=utf-8", "too many listeners\n"});
    }
    client.answered = client.listening = true;
    client.told = version_;
    client.out = event_stream_head() + event(version_);
    return write_to(client);
  }
  const auto found = route_(request->path);
  answer(client, found ? *found : Answer{404, "text/plain; charset=utf-8", "no such page\n"}, head_only);
}

void Server::answer(Client& client, const Answer& answer, bool head_only) {
  client.answered = true;
  client.out = to_bytes(answer, head_only);
  client.sent = 0;
  write_to(client);
}

void Server::write_to(Client& client) {
  while (!client.idle()) {
    const ssize_t put = ::send(client.descriptor, client.out.data() + client.sent,
                               client.out.size() - client.sent, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) return;
    if (put <= 0) {
      client.closed = true;
      return;
    }
    client.sent += static_cast<size_t>(put);
    client.since = Clock::now();
  }
  client.out.clear();
  client.sent = 0;
  if (client.listening) {
    if (client.told == version_) return;
    client.told = version_;
    client.out = event(version_);
    write_to(client);
  } else if (client.answered) {
    ::shutdown(client.descriptor, SHUT_WR);
    client.leaving = true;
    client.closed = client.drained;
  }
}

void Server::announce(int64_t version) {
  version_ = version;
  // A listener that has not taken the last event yet gets the newest later: nothing piles up.
  for (const auto& client : clients_) {
    if (client->listening && client->idle()) write_to(*client);
  }
}

void Server::drop_late() {
  const auto now = Clock::now();
  for (const auto& client : clients_) {
    const auto quiet = now - client->since;
    if (!client->answered && quiet > options_.request_time) {
      answer(*client, {408, "text/plain; charset=utf-8", "the request took too long\n"});
      client->closed = true;
    } else if ((!client->idle() && quiet > options_.send_time) || (client->leaving && quiet > kFarewell)) {
      client->closed = true;
    } else if (client->listening && client->idle() && quiet > kHeartbeat) {
      client->out = ": still here\n\n";
      write_to(*client);
    }
  }
  std::erase_if(clients_, [](const auto& client) { return client->closed; });
}

}  // namespace hewn::report

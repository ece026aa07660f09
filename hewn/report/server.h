#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hewn/report/http.h"

namespace hewn::report {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int64_t port = 0;     // 0: any that is free
  bool remote = false;  // whether other machines may ask
  size_t most_clients = 64;
  std::chrono::milliseconds request_time{10'000};  // for a whole request head
  std::chrono::milliseconds send_time{30'000};     // for a client that takes nothing
};

/// A small HTTP server for one page: GET and HEAD of a fixed set of paths, and a stream of events that says
/// when the data changed. One thread, never waiting for a client.
class Server {
 public:
  /// What a path answers; nothing where there is no such path. Paths are names here, never files.
  using Route = std::function<std::shared_ptr<const Answer>(const std::string& path)>;

  /// Binds and listens. Throws Error where that is not possible, or where the host is not this machine alone
  /// and `remote` is not set.
  Server(ServerOptions options, Route route);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int64_t port() const { return port_; }
  std::string url() const;

  /// Serves for about that long. False where a signal interrupted it.
  bool serve(std::chrono::milliseconds time);
  /// Tells everyone who listens to /events. `version` becomes the event's data.
  void announce(int64_t version);

 private:
  struct Client;
  void accept_clients();
  void make_room();
  void read_from(Client& client);
  void answer(Client& client, const Answer& answer, bool head_only = false);
  void respond(Client& client);
  void write_to(Client& client);
  void drop_late();

  ServerOptions options_;
  Route route_;
  int listener_ = -1;
  int64_t port_ = 0;
  int64_t version_ = 0;
  std::vector<std::unique_ptr<Client>> clients_;
};

}  // namespace hewn::report

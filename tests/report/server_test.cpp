// The server must stay calm whatever a client does.
#include "hewn/report/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/support/message.h"

namespace hewn::report {
namespace {

using namespace std::chrono_literals;
using test::message_of;

class Socket {
 public:
  explicit Socket(int64_t port) : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{10, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    connected_ = ::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Socket() { ::close(descriptor_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  bool connected() const { return connected_; }
  void send(const std::string& text) const { ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL); }
  /// What comes until `mark` is in it or the other side closes.
  std::string receive(const std::string& mark = "\r\n\r\n\1") const {
    std::string text;
    char buffer[4096];
    while (text.find(mark) == std::string::npos) {
      const ssize_t got = ::recv(descriptor_, buffer, sizeof buffer, 0);
      if (got <= 0) break;
      text.append(buffer, static_cast<size_t>(got));
    }
    return text;
  }

 private:
  int descriptor_;
  bool connected_ = false;
};

class ServerTest : public testing::Test {
 protected:
  void start(ServerOptions options = {}) {
    server_ = std::make_unique<Server>(options, [this](const std::string& path) {
      ++asked_;
      return path == "/" ? std::make_shared<const Answer>(Answer{200, "text/html", "<p>hello</p>"})
             : path == "/large"
                 ? std::make_shared<const Answer>(Answer{200, "text/plain", std::string(32 << 20, 'x')})
                 : nullptr;
    });
    thread_ = std::thread([this] {
      int64_t version = 0;
      while (!ended_) {
        server_->serve(20ms);
        if (change_.exchange(false)) server_->announce(++version);
      }
    });
  }
  void TearDown() override {
    ended_ = true;
    if (thread_.joinable()) thread_.join();
  }
  std::string ask(const std::string& text) const {
    const Socket socket(server_->port());
    socket.send(text);
    return socket.receive();
  }
  static std::string get(const std::string& path, const std::string& host = "127.0.0.1") {
    return "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
  }

  std::unique_ptr<Server> server_;
  std::atomic<int> asked_ = 0;  // times that a path was looked up
  std::atomic<bool> ended_ = false;
  std::atomic<bool> change_ = false;
  std::thread thread_;
};

TEST_F(ServerTest, GetAndHead) {
  start();
  const std::string answer = ask(get("/?x=1"));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_NE(answer.find("Content-Security-Policy: default-src 'none'"), std::string::npos);
  EXPECT_TRUE(answer.ends_with("\r\n\r\n<p>hello</p>"));
  const std::string head = ask("HEAD / HTTP/1.1\r\nHost: localhost:80\r\n\r\n");
  EXPECT_NE(head.find("Content-Length: 12"), std::string::npos);
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
  const std::string events = ask("HEAD /events HTTP/1.1\r\nHost: localhost:80\r\n\r\n");
  EXPECT_NE(events.find("text/event-stream"), std::string::npos);
  EXPECT_TRUE(events.ends_with("\r\n\r\n"));
}

TEST_F(ServerTest, OtherMethodsAreRefused) {
  start();
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get"}) {
    const std::string answer = ask(std::string(method) + " / HTTP/1.1\r\nHost: localhost\r\n\r\nbody");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 405 ")) << method << ": " << answer;
    EXPECT_NE(answer.find("Allow: GET, HEAD"), std::string::npos);
  }
  EXPECT_EQ(asked_, 0);
}

TEST_F(ServerTest, PathsAreNamesNotFiles) {
  start();
  for (const char* path : {"/../config.json", "/..%2f..%2fetc/passwd", "//etc/passwd", "/data.json/../../x",
                           "/%00", "/./", "/config.json"}) {
    EXPECT_TRUE(ask(get(path)).starts_with("HTTP/1.1 404 ")) << path;
  }
  EXPECT_EQ(asked_, 7);
}

TEST_F(ServerTest, WhatIsNoRequestIsRefused) {
  start();
  for (const char* text : {"hello\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/2\r\n\r\n",
                           "GET http://x/ HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET / / HTTP/1.1\r\n\r\n",
                           "\r\n\r\n", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"}) {
    EXPECT_TRUE(ask(text).starts_with("HTTP/1.1 400 ")) << text;
  }
}

// A page from elsewhere may point its own name at 127.0.0.1.
TEST_F(ServerTest, OnlyItsOwnHostNames) {
  start();
  for (const char* host : {"evil.example", "evil.example:80", "localhost.evil.example",
                           "127.0.0.1.evil.example", "10.0.0.1", ""}) {
    EXPECT_TRUE(ask(get("/", host)).starts_with("HTTP/1.1 403 ")) << host;
  }
  EXPECT_TRUE(ask("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 403 "));
  for (const char* host : {"LocalHost:123", "[::1]:9", "127.0.0.1"}) {
    EXPECT_TRUE(ask(get("/", host)).starts_with("HTTP/1.1 200 ")) << host;
  }
  EXPECT_TRUE(is_own_host("10.0.0.1", "0.0.0.0", true));
  EXPECT_FALSE(is_own_host("evil.example", "0.0.0.0", true));
}

TEST_F(ServerTest, LongHeadsAreRefused) {
  start();
  const std::string answer = ask("GET / HTTP/1.1\r\nX: " + std::string(1 << 20, 'a'));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 431 ")) << answer.substr(0, 80);
}

TEST_F(ServerTest, AClientThatHangsHoldsNobodyUp) {
  ServerOptions options;
  options.request_time = 300ms;
  options.send_time = 300ms;
  start(options);
  const Socket silent(server_->port());
  const Socket slow(server_->port());
  slow.send("GET / HTTP/1.1\r\nHos");
  const Socket greedy(server_->port());  // asks for much and takes nothing
  greedy.send(get("/large"));
  EXPECT_TRUE(ask(get("/")).starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(silent.receive().starts_with("HTTP/1.1 408 "));
  EXPECT_TRUE(slow.receive().starts_with("HTTP/1.1 408 "));
  std::this_thread::sleep_for(600ms);
  EXPECT_TRUE(ask(get("/")).starts_with("HTTP/1.1 200 "));
  EXPECT_LT(greedy.receive().size(), size_t{32} << 20);  // it was cut off
}

TEST_F(ServerTest, TooManyClientsAreTurnedAway) {
  ServerOptions options;
  options.most_clients = 4;
  start(options);
  std::vector<std::unique_ptr<Socket>> sockets;
  // Who listens is served: nobody else may take the place.
  for (int i = 0; i < 4; ++i) {
    sockets.push_back(std::make_unique<Socket>(server_->port()));
    sockets.back()->send(get("/events"));
    sockets.back()->receive("data: 0\n\n");
  }
  std::string last;
  for (int i = 0; i < 100 && !last.starts_with("HTTP/1.1 503 "); ++i)
    last = Socket(server_->port()).receive();
  EXPECT_TRUE(last.starts_with("HTTP/1.1 503 ")) << last;
  sockets.clear();
  std::string answer;
  for (int i = 0; i < 100 && !answer.starts_with("HTTP/1.1 200 "); ++i) {
    std::this_thread::sleep_for(10ms);
    answer = ask(get("/"));
  }
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer;
}

TEST_F(ServerTest, WhoeverStallsGivesWayToThoseWhoAsk) {
  start();
  std::vector<std::unique_ptr<Socket>> stalled;
  for (int i = 0; i < 64; ++i) {
    stalled.push_back(std::make_unique<Socket>(server_->port()));
    if (i % 2 == 0) stalled.back()->send("GET / HTTP/1.1\r\n");
  }
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(ask(get("/")).starts_with("HTTP/1.1 200 ")) << i;
}

TEST_F(ServerTest, ListenersHearOfChanges) {
  start();
  const Socket socket(server_->port());
  socket.send(get("/events"));
  EXPECT_NE(socket.receive("data: 0\n\n").find("text/event-stream"), std::string::npos);
  change_ = true;
  EXPECT_NE(socket.receive("data: 1\n\n").find("event: change\ndata: 1\n\n"), std::string::npos);
}

TEST(Server, OtherMachinesMustBeAskedFor) {
  const Server::Route none = [](const std::string&) { return nullptr; };
  for (const char* host : {"0.0.0.0", "::"}) {
    EXPECT_NE(message_of([&] {
                Server({host, 0, false}, none);
              }).find("add --allow-remote"),
              std::string::npos);
  }
  EXPECT_NE(message_of([&] {
              Server({"no such name", 0, false}, none);
            }).find("no address"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              Server({"127.0.0.1", 70000, false}, none);
            }).find("port: expected"),
            std::string::npos);
  const Server first({"127.0.0.1", 0, false}, none);
  EXPECT_NE(message_of([&] {
              Server({"127.0.0.1", first.port(), false}, none);
            }).find("--port 0"),
            std::string::npos);
  const Server anyone({"0.0.0.0", 0, true}, none);
  EXPECT_GT(anyone.port(), 0);
}

}  // namespace
}  // namespace hewn::report

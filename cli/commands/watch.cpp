#include <unistd.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>
#include <thread>

#include "cli/command.h"
#include "cli/commands/watch_terminal.h"
#include "cli/source.h"
#include "hewn/core/error.h"
#include "hewn/report/live.h"
#include "hewn/report/server.h"

namespace hewn::cli {
namespace {

constexpr std::chrono::milliseconds kPause{500};  // between two looks at the folder

volatile std::sig_atomic_t interrupted = 0;

struct WatchFields {
  std::string run;
  report::ServerOptions server = {"127.0.0.1", 8750, false};
  bool terminal = false;
};

void end_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

int watch_in_terminal(const WatchFields& fields) {
  report::RunView view({fields.run});
  TerminalView terminal(std::cout, isatty(STDOUT_FILENO) == 1);
  terminal.show(view);
  while (interrupted == 0 && view.status() == report::Status::kRunning) {
    std::this_thread::sleep_for(kPause);
    view.refresh();
    terminal.show(view);
  }
  return 0;
}

int watch_in_browser(const WatchFields& fields) {
  report::LiveRun live({fields.run});
  report::Server server(fields.server, [&](const std::string& path) { return live.route(path); });
  std::cout << "watching " << fields.run << " at " << server.url() << "  (Ctrl-C ends)" << std::endl;
  while (interrupted == 0) {
    server.announce(live.version());
    server.serve(kPause);
    live.refresh();
  }
  return 0;
}

}  // namespace

Command watch_command() {
  const auto fields = std::make_shared<WatchFields>();
  Command command;
  command.name = "watch";
  command.help = "show a run while it trains, in a browser or in the terminal";
  command.example = "hewn watch runs/fashion-mnist-mlp-auto-b16-s0.9-seed0";
  command.positionals = {{"RUN", "run folder", &fields->run}};
  command.options.add("port", fields->server.port, "port of the page; 0: any that is free");
  command.options.add("host", fields->server.host, "address to listen on");
  command.options.add("allow-remote", fields->server.remote, "let other machines see the page");
  command.options.add("terminal", fields->terminal, "show it here instead, without a page");
  command.run = [fields](const Given&) {
    source_kind("watch", fields->run, {io::SourceKind::kRun});
    end_on_signals();
    return fields->terminal ? watch_in_terminal(*fields) : watch_in_browser(*fields);
  };
  return command;
}

}  // namespace hewn::cli

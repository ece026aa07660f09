#include "cli/usage/watch.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <thread>

#include "cli/source.h"
#include "cli/torch/watch_terminal.h"
#include "hewn/core/error.h"
#include "hewn/report/live.h"
#include "hewn/report/server.h"

namespace hewn::cli {
namespace {

constexpr std::chrono::milliseconds kPause{500};  // between two looks at the folder

volatile std::sig_atomic_t interrupted = 0;

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

int run_watch(WatchFields& fields, const Given& /*given*/) {
  end_on_signals();
  return fields.terminal ? watch_in_terminal(fields) : watch_in_browser(fields);
}

}  // namespace hewn::cli

// Starts several processes of hewn on this machine that train together, as torchrun does on many.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>

#include "cli/command.h"
#include "cli/stop.h"
#include "hewn/core/error.h"
#include "hewn/dist/place.h"
#include "hewn/sweep/process.h"

namespace hewn::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Ranks that lose another end by themselves within a minute. What is left then is stopped.
constexpr std::chrono::seconds kGrace{75};
constexpr int kStopping[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int kCannotStart = 127;
constexpr int64_t kMostProcesses = 1024;

struct LaunchFields {
  int64_t processes = 2;
  std::vector<std::string> command;
};

pid_t start(const LaunchFields& fields, int64_t rank, int64_t port) {
  std::vector<std::string> environment = {
      str("WORLD_SIZE=", fields.processes),       str("RANK=", rank),      str("LOCAL_RANK=", rank),
      str("LOCAL_WORLD_SIZE=", fields.processes), "MASTER_ADDR=127.0.0.1", str("MASTER_PORT=", port)};
  for (char** item = environ; *item != nullptr; ++item) {
    const std::string text = *item;
    const std::string name = text.substr(0, text.find('=') + 1);
    const bool ours = std::any_of(environment.begin(), environment.begin() + 6,
                                  [&](const std::string& mine) { return mine.starts_with(name); });
    if (!ours) environment.push_back(text);
  }
  std::vector<std::string> arguments = {"hewn"};
  arguments.insert(arguments.end(), fields.command.begin(), fields.command.end());
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
  };
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> variables = pointers(environment);
  const pid_t parent = ::getpid();
  // A signal that comes between fork and exec must neither be lost nor meet our handler.
  sigset_t ours;
  sigset_t before;
  sigemptyset(&ours);
  for (const int number : kStopping) sigaddset(&ours, number);
  ::sigprocmask(SIG_BLOCK, &ours, &before);
  const pid_t pid = ::fork();
  if (pid == 0) {
    // Without its launcher a rank ends as after any SIGTERM, with a checkpoint.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(kCannotStart);
    for (const int number : kStopping) {
      struct sigaction now = {};
      ::sigaction(number, nullptr, &now);
      if (now.sa_handler != SIG_IGN) std::signal(number, SIG_DFL);  // nohup stays in force
    }
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    ::execve("/proc/self/exe", argv.data(), variables.data());
    ::_exit(kCannotStart);
  }
  const int problem = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0)
    throw Error(str("launch: rank ", rank, " could not be started (", std::strerror(problem), ")"));
  return pid;
}

/// The signal that stopped a process: launch's own, or one that only it, or another rank, was sent. 0: none.
int stopped_by(int status) {
  for (const int number : kStopping) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 128 + number) return number;
    if (WIFSIGNALED(status) && WTERMSIG(status) == number && stop_signal == number) return number;
  }
  return 0;
}

/// What became of all processes: the first that failed, or the signal that stopped one.
struct Ended {
  std::optional<std::string> failure;
  int code = 0;  // of the failure: 2 where all that failed said what the user can mend
  int stopped_by = 0;
};

/// Waits for all. A signal to stop is passed on to them.
Ended wait_for(std::vector<pid_t> pids) {
  Ended out;
  Clock::time_point end = Clock::time_point::max();
  size_t left = pids.size();
  bool passed_on = false;
  while (left > 0) {
    if (stop_signal != 0 && !passed_on) {
      for (const pid_t pid : pids) {
        if (pid != 0) ::kill(pid, stop_signal);
      }
      passed_on = true;
    }
    for (size_t rank = 0; rank < pids.size(); ++rank) {
      int status = 0;
      if (pids[rank] == 0 || ::waitpid(pids[rank], &status, WNOHANG) != pids[rank]) continue;
      pids[rank] = 0;
      --left;
      if (status == 0) continue;
      end = std::min(end, Clock::now() + kGrace);
      const int number = stopped_by(status);
      // A rank that stopped with another one, which got a signal, exits as after SIGTERM.
      if (number != 0 && (out.stopped_by == 0 || out.stopped_by == SIGTERM)) out.stopped_by = number;
      if (number == 0 && out.code != 1) out.code = WIFEXITED(status) && WEXITSTATUS(status) == 2 ? 2 : 1;
      if (number == 0 && !out.failure) out.failure = str("rank ", rank, " ", sweep::fate(status));
    }
    if (left > 0 && Clock::now() > end) {
      for (const pid_t pid : pids) {
        if (pid != 0) ::kill(pid, SIGKILL);
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return out;
}

int run_launch(const LaunchFields& fields) {
  if (fields.processes < 1) throw Error(str("-n: expected at least 1, got ", fields.processes));
  if (fields.processes > kMostProcesses)
    throw Error(str("-n: expected at most ", kMostProcesses, ", got ", fields.processes));
  if (fields.command.empty())
    throw Error("launch: expected a command behind --, as in: launch -n 2 -- train");
  const int64_t port = dist::free_port();
  std::vector<pid_t> pids;
  stop_on_signals();
  for (int64_t rank = 0; rank < fields.processes; ++rank) pids.push_back(start(fields, rank, port));
  const Ended ended = wait_for(pids);
  if (ended.failure) {
    std::cerr << "hewn: launch: " << *ended.failure << '\n';
    return ended.code;
  }
  // A signal that came when all had finished stopped nothing.
  return ended.stopped_by == 0 ? 0 : 128 + (stop_signal != 0 ? stop_signal.load() : ended.stopped_by);
}

}  // namespace

Command launch_command() {
  const auto fields = std::make_shared<LaunchFields>();
  Command command;
  command.name = "launch";
  command.help = "run a command in several processes that train together, on this machine";
  command.example = "hewn launch -n 2 -- train --data synthetic-ctr --batch 4096";
  command.options.add("n", fields->processes, "processes");
  command.rest = &fields->command;
  command.run = [fields](const Given&) { return run_launch(*fields); };
  return command;
}

}  // namespace hewn::cli

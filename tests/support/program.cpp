#include "tests/support/program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <thread>

#include "hewn/core/files.h"
#include "tests/support/temp_folder.h"

namespace hewn::test {
namespace {

pid_t start(const std::vector<std::string>& arguments, const std::string& out, const std::string& err,
            const std::string& in = "") {
  std::vector<std::string> words = {HEWN_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  // A test that a shell runs in the background is deaf to some, and the program would be with it.
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_DFL);
  if (!in.empty()) dup2(open(in.c_str(), O_RDONLY), STDIN_FILENO);
  dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
  dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
  execv(argv[0], argv.data());
  _exit(127);
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

Outcome finish(pid_t child, const TempFolder& folder) {
  int status = 0;
  rusage usage = {};
  wait4(child, &status, 0, &usage);
  return {code_of(status), read_file(folder / "out"), read_file(folder / "err"), usage.ru_maxrss};
}

}  // namespace

Outcome hewn(const std::vector<std::string>& arguments) {
  const TempFolder folder;
  return finish(start(arguments, folder / "out", folder / "err"), folder);
}

std::future<Outcome> hewn_started(const std::vector<std::string>& arguments) {
  const auto folder = std::make_shared<TempFolder>();
  const pid_t child = start(arguments, *folder / "out", *folder / "err");
  return std::async(std::launch::async, [child, folder] { return finish(child, *folder); });
}

Outcome hewn_fed(const std::string& input, const std::vector<std::string>& arguments) {
  const TempFolder folder;
  write_text(folder / "in", input);
  return finish(start(arguments, folder / "out", folder / "err", folder / "in"), folder);
}

int hewn_struck_when(const std::vector<std::string>& arguments, const std::function<bool()>& ready,
                     int milliseconds, int signal) {
  const pid_t child = start(arguments, "/dev/null", "/dev/null");
  int status = 0;
  while (!ready()) {
    if (waitpid(child, &status, WNOHANG) == child) return code_of(status);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  kill(child, signal);
  waitpid(child, &status, 0);
  return code_of(status);
}

Outcome hewn_signalled_when(const std::vector<std::string>& arguments, const std::function<bool()>& ready,
                            int signal) {
  const TempFolder folder;
  const pid_t child = start(arguments, folder / "out", folder / "err");
  siginfo_t ended = {};
  while (!ready() && ended.si_pid == 0) {
    waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(child, signal);
  return finish(child, folder);
}

bool hewn_killed_when(const std::vector<std::string>& arguments, const std::function<bool()>& ready,
                      int milliseconds) {
  return hewn_struck_when(arguments, ready, milliseconds, SIGKILL) == 128 + SIGKILL;
}

}  // namespace hewn::test

#include "hewn/sweep/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/text.h"

namespace hewn::sweep {
namespace {

constexpr const char* kProgram = "/proc/self/exe";
constexpr int kCannotStart = 127;

int open_log(const std::filesystem::path& path) {
  const int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
  if (file < 0) throw Error(str(path.string(), ": cannot be written: ", std::strerror(errno)));
  return file;
}

}  // namespace

pid_t start_program(const std::vector<std::string>& arguments, const std::filesystem::path& log) {
  std::vector<std::string> words = {"hewn"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int out = open_log(log);
  const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const pid_t parent = ::getpid();
  // Between fork and exec only calls that a signal handler could make: other threads may hold locks.
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kCannotStart);  // it died before we could ask
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::execv(kProgram, argv.data());
    ::_exit(kCannotStart);
  }
  const int problem = errno;
  ::close(out);
  ::close(in);
  if (child < 0) throw Error(str("sweep: a run could not be started: ", std::strerror(problem)));
  return child;
}

int signal_in(int status) {
  constexpr int kSignalled = 128;  // the shell's rule, which hewn train follows
  if (WIFSIGNALED(status)) return WTERMSIG(status);
  return WIFEXITED(status) ? std::max(0, WEXITSTATUS(status) - kSignalled) : 0;
}

std::string fate(int status) {
  if (const int number = signal_in(status); number != 0) {
    return str("was ended by signal ", number, " (", ::strsignal(number), ")");
  }
  return WEXITSTATUS(status) == 0 ? "" : str("ended with status ", WEXITSTATUS(status));
}

std::string last_line(const std::filesystem::path& log, size_t begin) {
  const std::string text = read_file(log);
  std::string last;
  for (const std::string& line : split(text.substr(std::min(begin, text.size())), '\n')) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  }
  return last.starts_with("hewn: ") ? last.substr(6) : last;
}

}  // namespace hewn::sweep

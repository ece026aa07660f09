#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace hewn::sweep {

/// Starts this same program with other arguments. Its output is added to the file `log`. It is killed when
/// the thread that started it ends, however that comes about: a restarted sweep must not meet its elder's
/// children.
pid_t start_program(const std::vector<std::string>& arguments, const std::filesystem::path& log);

/// The signal that ended a process, or that it took for a request to end; 0: none.
int signal_in(int status);

/// "" for a process that did what it should, else what became of it.
std::string fate(int status);

/// The last line of a log from byte `begin` on that says something.
std::string last_line(const std::filesystem::path& log, size_t begin);

}  // namespace hewn::sweep

#include "cli/hand_over.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "hewn/core/error.h"

namespace hewn::cli {
namespace {

/// Where it may be: beside this program, as in a build folder, or where it is installed.
std::vector<std::filesystem::path> places() {
  const char* named = std::getenv("HEWN_TORCH_PROGRAM");
  if (named != nullptr && *named != '\0') return {named};
  std::error_code problem;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (problem)
    throw Error(str("/proc/self/exe: cannot be read (", problem.message(), "); set HEWN_TORCH_PROGRAM"));
  const std::filesystem::path folder = self.parent_path();
  return {folder / "hewn-torch", (folder / HEWN_LIBEXEC / "hewn-torch").lexically_normal()};
}

}  // namespace

void become_torch_program(char** argv) {
  std::string looked;
  for (const std::filesystem::path& place : places()) {
    ::execv(place.c_str(), argv);
    if (errno != ENOENT) throw Error(str(place.string(), ": cannot be run (", std::strerror(errno), ")"));
    looked += (looked.empty() ? "" : " and ") + place.string();
  }
  throw Error(str("hewn-torch, which does what needs LibTorch, is missing: looked for ", looked));
}

}  // namespace hewn::cli

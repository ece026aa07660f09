#include <malloc.h>

#include <exception>
#include <iostream>
#include <string>

#include "cli/command.h"
#include "cli/hand_over.h"
#include "hewn/core/error.h"

int main(int argc, char** argv) {
  // Training allocates the same few megabytes at every step. Keeping them in the heap saves handing pages
  // back to the kernel and faulting them in again.
  constexpr int kKeep = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kKeep);
  mallopt(M_TRIM_THRESHOLD, kKeep);
  try {
    const std::vector<hewn::cli::Command> commands = {
#define HEWN_ACTION(name, Fields)
#define HEWN_COMMAND(name) hewn::cli::name##_command(),
#include "cli/commands/commands.def"
#undef HEWN_COMMAND
#undef HEWN_ACTION
    };
    try {
      return hewn::cli::parse_and_run(commands, argc, argv);
    } catch (const hewn::cli::HandOver&) {
      hewn::cli::become_torch_program(argv);
    }
  } catch (const hewn::Error& error) {
    std::cerr << "hewn: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    // LibTorch appends a backtrace to its messages; the first line says what happened.
    const std::string text = error.what();
    std::cerr << "hewn: internal error: " << text.substr(0, text.find('\n')) << '\n';
    return 1;
  }
}

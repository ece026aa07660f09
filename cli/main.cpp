#include <malloc.h>

#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>

#include "cli/command.h"
#include "cli/hand_over.h"
#include "hewn/core/error.h"
#include "hewn/core/json.h"
#include "hewn/core/text.h"

namespace {

constexpr int kNotUtf8 = 316;  // what the JSON library calls it
constexpr const char* kNoMemory = "there is not enough memory for this";

/// Names out of files may hold anything: what is said is one line, and no terminal obeys it.
int end_with(const std::string& text) {
  std::cerr << "hewn: " << hewn::printable(text) << '\n';
  return 2;
}

}  // namespace

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
    return end_with(error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return end_with(error.path1().string() + ": " + error.code().message());
  } catch (const nlohmann::json::type_error& error) {
    if (error.id == kNotUtf8)
      return end_with("a name holds bytes that are not UTF-8, which JSON cannot hold");
    end_with(std::string("internal error: ") + error.what());
    return 1;
  } catch (const std::bad_alloc&) {
    return end_with(kNoMemory);
  } catch (const std::exception& error) {
    // LibTorch appends a backtrace to its messages; the first line says what happened.
    const std::string text = error.what();
    if (text.find("can't allocate memory") != std::string::npos) return end_with(kNoMemory);
    end_with("internal error: " + text.substr(0, text.find('\n')));
    return 1;
  }
}

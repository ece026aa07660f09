#include <malloc.h>

#include <exception>
#include <iostream>
#include <string>

#include "cli/command.h"
#include "hewn/core/error.h"

int main(int argc, char** argv) {
  // Training allocates the same few megabytes at every step. Keeping them in the heap saves handing pages
  // back to the kernel and faulting them in again.
  constexpr int kKeep = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kKeep);
  mallopt(M_TRIM_THRESHOLD, kKeep);
  try {
    return hewn::cli::parse_and_run(
        {hewn::cli::train_command(), hewn::cli::eval_command(), hewn::cli::export_command(),
         hewn::cli::predict_command(), hewn::cli::inspect_command(), hewn::cli::plan_command(),
         hewn::cli::phases_command(), hewn::cli::methods_command(), hewn::cli::bench_command(),
         hewn::cli::advise_command(), hewn::cli::prepare_command(), hewn::cli::select_command(),
         hewn::cli::launch_command(), hewn::cli::sweep_command(), hewn::cli::report_command(),
         hewn::cli::watch_command()},
        argc, argv);
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

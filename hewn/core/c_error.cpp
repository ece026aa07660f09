#include "hewn/core/c_error.h"

#include <string>

#include "hewn/core/c_guard.h"

namespace {

thread_local std::string last_error;

}  // namespace

const char* hewn_last_error(void) { return last_error.c_str(); }

namespace hewn {

void set_last_error(const char* what) noexcept {
  try {
    last_error = what;
  } catch (...) {
    last_error.clear();
  }
}

}  // namespace hewn

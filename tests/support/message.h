#pragma once

#include <functional>
#include <string>

#include "hewn/core/error.h"

namespace hewn::test {

/// What the Error says that `run` throws; "" where it throws none.
inline std::string message_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace hewn::test

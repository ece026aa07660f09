#pragma once

#include <exception>

#include "hewn/core/error.h"

namespace hewn {

/// What hewn_last_error() answers in this thread.
void set_last_error(const char* what) noexcept;

/// Runs `body`, from which no exception leaves. Returns what it returned; where it threw, `failed(error)`,
/// with null for what is not a std::exception.
template <class Body, class Failed>
auto guard_c(const Body& body, const Failed& failed) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception& error) {
    set_last_error(error.what());
    return failed(&error);
  } catch (...) {
    set_last_error("something unknown went wrong");
    return failed(nullptr);
  }
}

inline void require_pointer(const void* pointer, const char* function, const char* what) {
  if (pointer == nullptr) throw Error(str(function, ": ", what, " is null"));
}

}  // namespace hewn

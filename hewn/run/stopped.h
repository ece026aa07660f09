#pragma once

#include "hewn/core/error.h"

namespace hewn::run {

/// A run has ended before its time because an observer asked it to. What it needs to go on is written.
class Stopped : public Error {
 public:
  using Error::Error;
};

}  // namespace hewn::run

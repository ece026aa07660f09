#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace hewn {

/// Something the user can fix: the message is one line that names what was given and what was expected.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file is not what it should be. The message starts with its path.
class FormatError : public Error {
 public:
  FormatError(const std::string& path, const std::string& what) : Error(path + ": " + what) {}
};

/// Joins its arguments as operator<< prints them.
template <class... Args>
std::string str(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return out.str();
}

}  // namespace hewn

#pragma once

#include <string>
#include <vector>

#include "hewn/sweep/sections.h"

namespace hewn::sweep {

/// A sweep file as it is at one of its sizes.
struct SweepFile {
  std::string path;
  std::string name;               // of its tables and its usual folder: "clip", or "clip-small" at size small
  std::string size;               // "" where it has none
  std::vector<Section> sections;  // of this size
  std::string text;               // says the same without needing other files
};

/// Reads the text of a sweep file at a size, by default the first it names. What it says for the size goes
/// before what it says for all of them, and both go before what the size's base says. Throws Error, with the
/// sizes there are, for another one, and FormatError with path and line.
SweepFile sweep_file(const std::string& text, const std::string& path, const std::string& size = "");

}  // namespace hewn::sweep

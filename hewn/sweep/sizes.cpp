#include "hewn/sweep/sizes.h"

#include <algorithm>
#include <filesystem>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/text.h"

namespace hewn::sweep {
namespace {

Section* find_section(std::vector<Section>& sections, const Section& like) {
  const auto same = std::find_if(sections.begin(), sections.end(), [&](const Section& section) {
    return !like.repeated && section.name == like.name && section.label == like.label;
  });
  return same == sections.end() ? nullptr : &*same;
}

Entry* find_entry(std::vector<Entry>& entries, const std::string& key) {
  const auto same =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
  return same == entries.end() ? nullptr : &*same;
}

/// What is said for a size replaces what is said for all, in its place.
void lay_over(std::vector<Section>& sections, Section added) {
  added.size.clear();
  Section* same = find_section(sections, added);
  if (same == nullptr) {
    sections.push_back(std::move(added));
    return;
  }
  for (Entry& entry : added.entries) {
    if (Entry* found = find_entry(same->entries, entry.key)) {
      found->value = std::move(entry.value);
    } else {
      same->entries.push_back(std::move(entry));
    }
  }
}

/// What the file says replaces what its base says, in its place; so that the order of the base's axes, which
/// is in the names of runs, does not depend on which of them a file has values for.
void lay_under(std::vector<Section>& sections, Section base) {
  Section* same = find_section(sections, base);
  if (same == nullptr) {
    sections.push_back(std::move(base));
    return;
  }
  std::vector<Entry> own;
  for (Entry& entry : same->entries) {
    if (Entry* found = find_entry(base.entries, entry.key)) {
      found->value = std::move(entry.value);
    } else {
      own.push_back(std::move(entry));
    }
  }
  own.insert(own.end(), base.entries.begin(), base.entries.end());
  same->entries = std::move(own);
}

std::vector<std::string> sizes_of(const std::vector<Section>& sections) {
  std::vector<std::string> sizes;
  for (const Section& section : sections) {
    // It becomes part of a folder's name.
    if (section.size.find('/') != std::string::npos) {
      reject_line(section.line, str("a size cannot be called \"", section.size, "\": it names a folder"));
    }
    const bool known = std::find(sizes.begin(), sizes.end(), section.size) != sizes.end();
    if (!section.size.empty() && !known) sizes.push_back(section.size);
  }
  return sizes;
}

/// The sections of a size's base, which lies beside the sweep file or below its folder.
std::vector<Section> base_sections(const Section& size, const std::string& path) {
  std::vector<Section> out;
  if (size.repeated) reject_line(size.line, str("expected [size.", size.size, "], or a section behind it"));
  for (const auto& [key, value] : size.entries) {
    if (key != "base") {
      reject_line(value.line, str("unknown key \"", key, "\" in [size.", size.size,
                                  "]; known: base; options stand in [size.", size.size, ".train]"));
    }
    const std::string base = (std::filesystem::path(path).parent_path() / value.text()).string();
    if (!std::filesystem::is_regular_file(base))
      reject_line(value.line, str("base: there is no file ", base));
    out = read_sections(read_file(base), base);
    for (const Section& section : out) {
      if (!section.size.empty()) reject_line(section.line, "a base has no sizes of its own");
    }
  }
  return out;
}

}  // namespace

SweepFile sweep_file(const std::string& text, const std::string& path, const std::string& size) {
  SweepFile out{path, std::filesystem::path(path).stem().string(), "", read_sections(text, path), text};
  const std::vector<std::string> sizes = sizes_of(out.sections);
  if (sizes.empty()) {
    if (!size.empty()) throw Error(str("size: ", path, " has no sizes"));
    return out;
  }
  out.size = size.empty() ? sizes.front() : size;
  if (std::find(sizes.begin(), sizes.end(), out.size) == sizes.end()) {
    throw Error(str("size: ", path, " has no size \"", size, "\"", did_you_mean(size, sizes),
                    "; known: ", join(sizes)));
  }
  if (out.size != sizes.front()) out.name += "-" + out.size;
  std::vector<Section> all;
  std::vector<Section> base;
  for (const Section& section : out.sections) {
    if (section.size.empty()) all.push_back(section);
  }
  for (const Section& section : out.sections) {
    if (section.size != out.size) continue;
    if (section.name.empty()) {
      base = base_sections(section, path);
    } else {
      lay_over(all, section);
    }
  }
  for (const Section& section : base) lay_under(all, section);
  out.sections = std::move(all);
  out.text = str("# ", path, " at size ", out.size, ".\n", to_text(out.sections));
  return out;
}

}  // namespace hewn::sweep

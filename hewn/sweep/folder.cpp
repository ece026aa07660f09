#include "hewn/sweep/folder.h"

#include <algorithm>
#include <set>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/version.h"
#include "hewn/sweep/sections.h"

namespace hewn::sweep {
namespace {

constexpr const char* kFailure = "failure.json";

void move(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code problem;
  std::filesystem::create_directories(to.parent_path(), problem);
  std::filesystem::rename(from, to, problem);
  if (problem) throw Error(str(from.string(), ": cannot be moved to ", to.string(), ": ", problem.message()));
}

/// The first key for which two sets of options differ, other than those that may; "" where there is none.
std::string difference(const Json& written, const Json& given, const TrainRules& rules) {
  const auto current = [&](const Json& options) {
    return rules.current ? Json(rules.current(options.get<Options>())) : options;
  };
  const Json before = current(written);
  const Json now = current(given);
  std::set<std::string> keys;
  for (const auto& [key, text] : before.items()) keys.insert(key);
  for (const auto& [key, text] : now.items()) keys.insert(key);
  for (const std::string& key : keys) {
    if (!rules.may_change(key) && before.value(key, Json()) != now.value(key, Json())) return key;
  }
  return "";
}

/// Throws FormatError where what a record says of options is not a text for each of them.
void expect_options(const Json& options, const std::string& where, const std::string& what) {
  const bool fits = options.is_object() && std::all_of(options.begin(), options.end(),
                                                       [](const Json& value) { return value.is_string(); });
  if (!fits) throw FormatError(where, str(what, ": expected an object of texts"));
}

std::string shown(const Json& options, const std::string& key) {
  return options.contains(key) ? options[key].get<std::string>() : "nothing";
}

}  // namespace

std::string_view name_of(State state) {
  switch (state) {
    case State::kWaiting:
      return "waiting";
    case State::kInterrupted:
      return "interrupted";
    case State::kFinished:
      return "finished";
    case State::kFailed:
      return "failed";
  }
  return "?";
}

State Folder::state(const std::string& name) const {
  if (is_there(run(name) / "summary.json")) return State::kFinished;
  if (is_there(failed(name))) return State::kFailed;
  return is_there(run(name) / "config.json") ? State::kInterrupted : State::kWaiting;
}

Json Folder::summary(const std::string& name) const { return read_record(run(name) / "summary.json"); }

std::string Folder::failure(const std::string& name) const {
  const Json error = read_record(failed(name) / kFailure).value("error", Json(""));
  if (!error.is_string()) throw FormatError((failed(name) / kFailure).string(), "\"error\" is not a text");
  return error.get<std::string>();
}

void Folder::keep_apart(const std::string& name, const std::string& why) const {
  write_file_atomically(run(name) / kFailure, Json{{"error", valid_utf8(why)}}.dump(2) + "\n");
  move(run(name), failed(name));
}

void Folder::take_back(const std::string& name) const {
  move(failed(name), run(name));
  std::filesystem::remove(run(name) / kFailure);
}

void Folder::settle(const std::vector<Run>& runs) const {
  for (const Run& one : runs) {
    if (is_there(run(one.name) / kFailure)) move(run(one.name), failed(one.name));
  }
}

Json record_of(const Spec& spec, const Options& given, const std::vector<Run>& runs) {
  Json all = Json::object();
  for (const Run& run : runs) all[run.name] = run.options;
  return {{"hewn", kVersion},
          {"file", valid_utf8(spec.path)},
          {"name", valid_utf8(spec.name)},
          {"size", spec.size.empty() ? Json(nullptr) : Json(spec.size)},
          {"given", given},
          {"fixed", spec.fixed},
          {"runs", all}};
}

Json continued(const Json& before, Json now, const Spec& spec, const std::filesystem::path& folder,
               const TrainRules& rules) {
  const std::string where = Folder{folder}.record().string();
  for (const char* part : {"fixed", "runs"}) {
    if (!before.contains(part) || !before[part].is_object()) {
      throw FormatError(where, str("has no \"", part, "\""));
    }
  }
  expect_options(before["fixed"], where, "fixed");
  for (const auto& [name, options] : before["runs"].items()) expect_options(options, where, "run " + name);
  const Json size = before.value("size", Json());
  if (size.is_string() && now["size"].is_string() && size != now["size"]) {
    throw FormatError(spec.path, str("this sweep was begun at size ", size.get<std::string>(), ", now it is ",
                                     spec.size, "; begin another sweep in another folder"));
  }
  const std::string key = difference(before["fixed"], now["fixed"], rules);
  if (!key.empty()) {
    const std::string what =
        str(key, ": this sweep was begun with ", shown(before["fixed"], key), " fixed in [train], now it is ",
            shown(now["fixed"], key), "; put it back, or begin another sweep in another folder");
    if (spec.lines.contains(key)) reject_line(spec.lines.at(key), what);
    throw FormatError(spec.path, what);
  }
  for (const auto& [name, options] : before["runs"].items()) {
    if (!now["runs"].contains(name)) {
      now["runs"][name] = options;
      continue;
    }
    if (Folder{folder}.state(name) == State::kWaiting) continue;
    const std::string changed = difference(options, now["runs"][name], rules);
    if (!changed.empty()) {
      throw FormatError(spec.path,
                        str("run ", name, " was begun with ", changed, " = ", shown(options, changed),
                            ", now it is ", shown(now["runs"][name], changed),
                            "; give the variant another name, or begin another sweep in another folder"));
    }
  }
  return now;
}

void require_same(const Json& joined, const Json& now, const Spec& spec, const TrainRules& rules) {
  const auto refuse = [&](const std::string& what) {
    throw FormatError(spec.path, what +
                                     " in the sweep that others have joined here; join with the same file, "
                                     "or begin another sweep in another folder");
  };
  for (const auto& [name, options] : now["runs"].items()) {
    if (!joined["runs"].contains(name)) refuse(str("run ", name, " is not"));
    const Json& theirs = joined["runs"][name];
    const std::string key = difference(theirs, options, rules);
    if (!key.empty()) {
      refuse(str("run ", name, " has ", key, " = ", shown(options, key), ", but ", shown(theirs, key)));
    }
  }
  for (const auto& [name, options] : joined["runs"].items()) {
    if (!now["runs"].contains(name)) refuse(str("has no run ", name, ", which is"));
  }
}

Json read_record(const std::filesystem::path& path) {
  Json json = parse_shallow<Json>(read_file(path), 16);
  if (!json.is_object()) throw FormatError(path.string(), "is not a JSON object");
  return json;
}

}  // namespace hewn::sweep

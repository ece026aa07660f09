#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/options.h"
#include "hewn/core/text.h"

namespace hewn {
namespace {

std::string text_of(const Json& value) {
  if (value.is_null()) return "auto";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string out;
  for (const Json& item : value) {
    if (!out.empty()) out.push_back(',');
    out.append(item.dump());
  }
  return out;
}

/// As it would be given.
std::string shown(const Json& value) {
  return value.is_number_float() ? str(value.get<double>()) : value.dump();
}

}  // namespace

OptionTable::Row& OptionTable::Row::expect(const std::string& words, std::function<bool(const Json&)> fits) {
  option().expected = words;
  option().fits = std::move(fits);
  return *this;
}

OptionTable::Row& OptionTable::Row::at_least(int64_t least) {
  return expect(least == 0 ? "0 or more" : str("at least ", least),
                [least](const Json& value) { return value.get<double>() >= static_cast<double>(least); });
}

OptionTable::Row& OptionTable::Row::above(double limit) {
  return expect(str("a number above ", limit),
                [limit](const Json& value) { return value.get<double>() > limit; });
}

OptionTable::Row& OptionTable::Row::between(int64_t least, int64_t most) {
  return expect(str(least, " to ", most), [least, most](const Json& value) {
    return value.get<int64_t>() >= least && value.get<int64_t>() <= most;
  });
}

OptionTable::Row& OptionTable::Row::all_between(int64_t least, int64_t most) {
  return expect(str(least, " to ", most, " each"), [least, most](const Json& value) {
    return std::all_of(value.begin(), value.end(), [&](const Json& one) {
      return one.get<int64_t>() >= least && one.get<int64_t>() <= most;
    });
  });
}

OptionTable::Row& OptionTable::Row::share() {
  return expect("a number in [0, 1)",
                [](const Json& value) { return value.get<double>() >= 0 && value.get<double>() < 1; });
}

OptionTable::Row& OptionTable::Row::share_or_all() {
  return expect("a number in [0, 1]",
                [](const Json& value) { return value.get<double>() >= 0 && value.get<double>() <= 1; });
}

OptionTable::Row& OptionTable::Row::one_of(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  }
  return expect(text, [words](const Json& value) {
    return std::find(words.begin(), words.end(), value.get<std::string>()) != words.end();
  });
}

OptionTable::Row& OptionTable::Row::only_prunes() {
  option().only_prunes = true;
  return *this;
}

OptionTable::Row& OptionTable::Row::may_change_on_resume() {
  option().may_change_on_resume = true;
  return *this;
}

OptionTable::Row& OptionTable::Row::in(const std::string& group) {
  option().group = group;
  return *this;
}

OptionTable::Row& OptionTable::Row::was(const std::string& key) {
  Option old = option();
  old.key = key;
  old.replaced_by = option().key;
  table_.old_.push_back(std::move(old));
  return *this;
}

OptionTable::Row& OptionTable::Row::was_not(const std::string& key) {
  Option old = option();
  old.key = key;
  old.replaced_by = option().key;
  old.parse = [key, parse = option().parse](const std::string& text) {
    bool on = false;
    parse_value(key, text, on);
    parse(on ? "false" : "true");
  };
  old.get = [get = option().get] { return Json(!get().get<bool>()); };
  table_.old_.push_back(std::move(old));
  return *this;
}

OptionTable::Row& OptionTable::Row::was_off_by(const std::string& key) {
  was_not(key);
  Option& old = table_.old_.back();
  old.parse = [key, parse = option().parse](const std::string& text) {
    bool off = false;
    parse_value(key, text, off);
    if (off) parse("false");
  };
  return *this;
}

std::vector<std::string> OptionTable::keys() const {
  std::vector<std::string> out;
  for (const Option& option : options_) out.push_back(option.key);
  return out;
}

OptionTable OptionTable::pick(const std::vector<std::string>& keys) const {
  OptionTable out;
  for (const std::string& key : keys) out.options_.push_back(find(key, "pick"));
  return out;
}

const Option& OptionTable::find(const std::string& key, const std::string& where) const {
  for (const std::vector<Option>* rows : {&options_, &old_}) {
    for (const Option& option : *rows) {
      if (option.key == key) return option;
    }
  }
  throw Error(str(where, ": unknown key \"", key, "\"", did_you_mean(key, keys())));
}

void OptionTable::check() const {
  for (const Option& option : options_) {
    const Json value = option.get();
    if (value.is_null() || !option.fits || option.fits(value)) continue;
    throw Error(str(option.key, ": expected ", option.expected, ", got ", shown(value)));
  }
}

Json OptionTable::to_json() const {
  Json out = Json::object();
  for (const Option& option : options_) out[option.key] = option.get();
  return out;
}

void OptionTable::from_json(const Json& values, const std::string& where) {
  if (!values.is_object()) throw FormatError(where, "expected a JSON object of options");
  for (const auto& [key, value] : values.items()) {
    const Option& option = find(key, where);
    try {
      option.parse(text_of(value));
    } catch (const Error& error) {
      throw FormatError(where, error.what());
    }
  }
}

}  // namespace hewn

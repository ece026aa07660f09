#include "tests/hostile/mutate.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace hewn::test {
namespace {

/// Numbers that arithmetic goes wrong with.
constexpr uint64_t kExtremes[] = {0,          1,          0x7f,        0x80,
                                  0xff,       0x7fff,     0xffff,      0x7fffffff,
                                  0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff,
                                  ~0ULL - 7,  ~0ULL,      1ULL << 40,  0x3f3f3f3f3f3f3f3f};

/// Where a value, or the text of a number, stands in a text file.
std::vector<size_t> digits_in(const std::string& text) {
  std::vector<size_t> out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] >= '0' && text[i] <= '9') out.push_back(i);
  }
  return out;
}

}  // namespace

std::string Mutator::bytes(std::string text) {
  const uint64_t changes = 1 + below(4);
  for (uint64_t i = 0; i < changes; ++i) {
    const size_t at = text.empty() ? 0 : below(text.size());
    const size_t length = text.empty() ? 0 : 1 + below(std::min<size_t>(text.size() - at, 64));
    switch (below(9)) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:
        text.resize(at);
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, text.substr(at, length));
        break;
      case 4:
        for (uint64_t n = 1 + below(8); n > 0; --n) text.insert(at, 1, static_cast<char>(below(256)));
        break;
      case 5: {
        const uint64_t number = kExtremes[below(std::size(kExtremes))];
        const size_t size = std::min<size_t>(size_t{1} << below(4), text.size() - at);
        std::memcpy(text.data() + at, &number, size);
        break;
      }
      case 6: {
        const std::vector<size_t> digits = digits_in(text);
        if (!digits.empty()) text.insert(digits[below(digits.size())], std::string(1 + below(20), '9'));
        break;
      }
      case 7: {
        constexpr const char* kPieces[] = {"nan", "-1", "[",    "{",  "\"", "1e999",
                                           "\n",  ",",  "\xff", "..", "#"};
        text.insert(at, kPieces[below(std::size(kPieces))]);
        break;
      }
      default:
        if (!text.empty()) std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(at), length, '\0');
    }
  }
  return text;
}

Json Mutator::odd_value() {
  switch (below(12)) {
    case 0:
      return nullptr;
    case 1:
      return -1;
    case 2:
      return 0;
    case 3:
      return 1e308;
    case 4:
      return std::string("x\x1b[31m\n");
    case 5:
      return Json::array();
    case 6:
      return Json::object();
    case 7:
      return kExtremes[below(std::size(kExtremes))];
    case 8:
      return 0.5;
    case 9:
      return true;
    case 10:
      return std::string(300, 'n');
    default:
      return Json::array({-1, "x", Json::object()});
  }
}

Json Mutator::json(Json value) {
  const bool inside = value.is_structured() && !value.empty() && below(8) != 0;
  if (!inside) return odd_value();
  const auto at = static_cast<std::ptrdiff_t>(below(value.size()));
  if (value.is_array()) {
    value[static_cast<size_t>(at)] = json(value[static_cast<size_t>(at)]);
    return value;
  }
  auto found = value.begin();
  std::advance(found, at);
  const std::string key = found.key();
  if (below(6) == 0) {
    value.erase(key);
  } else if (below(12) == 0) {
    value[key + "?"] = odd_value();
  } else {
    value[key] = json(value[key]);
  }
  return value;
}

std::string Mutator::file(const std::string& content) {
  const Json parsed = Json::parse(content, nullptr, false);
  if (parsed.is_discarded() || below(2) == 0) return bytes(content);
  return json(parsed).dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hewn::test

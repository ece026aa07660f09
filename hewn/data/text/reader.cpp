#include "hewn/data/text/reader.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "hewn/core/error.h"
#include "hewn/core/files.h"

namespace hewn::data {
namespace {

constexpr const char* kTextKind = "text";
constexpr size_t kBytes = 256;
constexpr uint64_t kMostText = uint64_t{1} << 30;  // all of it is held in memory

size_t byte_of(char c) { return static_cast<unsigned char>(c); }

/// Between the lines where Project Gutenberg says that its book starts and ends: the licence behind it would
/// be a third of the test part of a book.
std::string without_frame(std::string text) {
  const size_t start = text.find("\n*** START OF TH");
  const size_t first = start == std::string::npos ? start : text.find('\n', start + 1);
  const size_t end = first == std::string::npos ? first : text.find("\n*** END OF TH", first);
  if (end == std::string::npos) return text;
  return text.substr(first + 1, end - first);
}

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  std::string text = read_gzip(path, kMostText);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  size_t kept = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool ends_line = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (!ends_line) text[kept++] = text[i];
  }
  text.resize(kept);
  text = without_frame(std::move(text));
  if (text.empty()) throw FormatError(path.string(), "is empty; expected text");
  return text;
}

std::string find_alphabet(const std::string& text) {
  std::array<bool, kBytes> seen{};
  for (const char c : text) seen[byte_of(c)] = true;
  std::string out;
  for (size_t byte = 0; byte < kBytes; ++byte) {
    if (seen[byte]) out.push_back(static_cast<char>(byte));
  }
  return out;
}

std::string encoded_text(const std::string& text, const std::string& alphabet, const std::string& where) {
  std::array<int, kBytes> number{};
  number.fill(-1);
  for (size_t i = 0; i < alphabet.size(); ++i) number[byte_of(alphabet[i])] = static_cast<int>(i);
  std::string out(text.size(), '\0');
  for (size_t i = 0; i < text.size(); ++i) {
    const int found = number[byte_of(text[i])];
    if (found < 0) {
      throw FormatError(where, str("its byte ", i, " is ", byte_of(text[i]),
                                   ", which the text that the model was trained on does not have"));
    }
    out[i] = static_cast<char>(found);
  }
  return out;
}

TextParts text_parts(int64_t characters, double test_share, double validation_share, Part part) {
  const auto share_of = [&](double share) {
    return static_cast<int64_t>(share * static_cast<double>(characters));
  };
  const int64_t test = characters - share_of(test_share);
  const int64_t validation = test - share_of(validation_share);
  if (part == Part::kTest) return {validation, test, characters};
  return {validation, validation, test};
}

Json text_rule(const std::string& text, const std::string& alphabet) {
  Json bytes = Json::array();
  for (const char c : alphabet) bytes.push_back(byte_of(c));
  return {{"kind", kTextKind}, {"bytes", bytes}, {"characters", text.size()}, {"crc32", crc32(text)}};
}

bool is_text_rule(const Json& rule) {
  return rule.is_object() && rule.contains("kind") && rule["kind"] == kTextKind;
}

std::string alphabet_of(const Json& rule, const std::string& where) {
  std::vector<int64_t> bytes;
  try {
    rule.at("bytes").get_to(bytes);
  } catch (const Json::exception&) {
    bytes.clear();
  }
  const bool ascends = std::adjacent_find(bytes.begin(), bytes.end(), std::greater_equal<>()) == bytes.end();
  if (bytes.size() < 2 || !ascends || bytes.front() < 0 || bytes.back() >= static_cast<int64_t>(kBytes)) {
    throw FormatError(where, "does not say which characters a text has");
  }
  std::string out;
  for (const int64_t byte : bytes) out.push_back(static_cast<char>(byte));
  return out;
}

}  // namespace hewn::data

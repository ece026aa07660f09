#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hewn {

/// The candidate with the least edit distance to `word`, or "" when none is near enough to be meant.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// " (did you mean X?)" or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// "a, b, c".
std::string join(const std::vector<std::string>& words);

/// "a,b" -> {"a", "b"}; a text without the separator, also an empty one, is one piece.
std::vector<std::string> split(std::string_view text, char separator);

/// Whether `name` fits a shell-style pattern, where * stands for anything and ? for one character.
bool matches(std::string_view pattern, std::string_view name);

/// On one line, and safe to show in a terminal: control characters and bytes that are not UTF-8 are written
/// as \xNN.
std::string printable(std::string_view text);

/// 1234567 -> "1.18 MiB".
std::string bytes_text(int64_t bytes);

}  // namespace hewn

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "hewn/core/preprocessing.h"
#include "hewn/data/kind.h"

namespace hewn::data {

/// The bytes of a text, plain or gzip: without a byte-order mark and what Project Gutenberg puts around its
/// books, lines ended by '\n' alone.
std::string read_text(const std::filesystem::path& path);

/// The different bytes of a text, ascending: a character's number is its place here.
std::string find_alphabet(const std::string& text);

/// The number of each of a text's bytes. Throws FormatError, naming `where`, for one that the alphabet does
/// not have.
std::string encoded_text(const std::string& text, const std::string& alphabet, const std::string& where);

/// Where a text is divided: [0, training) is for training, [begin, end) is held out.
struct TextParts {
  int64_t training = 0;
  int64_t begin = 0;
  int64_t end = 0;
};
/// The test part is the end of the text, the validation part lies before it.
TextParts text_parts(int64_t characters, double test_share, double validation_share, Part part);

/// What a run keeps of its text: the alphabet, and by what to know the text again.
Json text_rule(const std::string& text, const std::string& alphabet);
bool is_text_rule(const Json& rule);
/// The alphabet of such a record. Throws FormatError where it makes no sense.
std::string alphabet_of(const Json& rule, const std::string& where);

}  // namespace hewn::data

// Every fast function has a plain twin with its name and parameters, and a test that compares them.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "hewn/core/files.h"

namespace hewn::kernels {
namespace {

// What has no twin, and why.
const std::map<std::string, std::string> kWithoutTwin = {
    {"byte_machine", "as machine"},
    {"byte_machine_at", "as machine"},
    {"byte_machine_count", "as machine"},
    {"bf16_from", "linear_test.cpp has the cases that rounding can meet"},
    {"behind_matrix", "numbers for multiply_matrix_words: words_test.cpp compares whole products"},
    {"bytes_amx", "as machine"},
    {"bytes_avx2", "as machine"},
    {"bytes_avx512", "as machine"},
    {"bytes_neon", "as machine"},
    {"bytes_portable", "as machine"},
    {"has_bytes_avx2", "as machine"},
    {"has_bytes_avx512", "as machine"},
    {"has_matrix_tiles", "as machine"},
    {"matrix_offsets", "as starts_of"},
    {"matrix_words_of_one_avx512", "as machine"},
    {"conv_input_gradient", "lists for multiply: reference/conv.h has the whole product"},
    {"conv_positions", "lists for multiply: reference/conv.h has the whole product"},
    {"pair_machine_at", "as machine"},
    {"pair_machine_count", "as machine"},
    {"pair_weight", "as starts_of"},
    {"pairs_amx", "as machine"},
    {"pairs_avx512", "as machine"},
    {"has_pairs_amx", "as machine"},
    {"has_pairs_avx512", "as machine"},
    {"machine", "says which instructions there are; reference/tile.h is what they compute"},
    {"machine_at", "as machine"},
    {"machine_count", "as machine"},
    {"make_pattern", "is the plain loop already"},
    {"padded_block", "a size"},
    {"samples_avx512", "as machine"},
    {"starts_of", "numbers for multiply_words: words_test.cpp compares whole products"},
    {"word_offsets", "as starts_of"},
    {"plane_runs", "lists for multiply_planes: planes_test.cpp compares whole convolutions"},
};

/// Free functions that a header declares, with their parameters: names begin in the first column.
std::map<std::string, std::string> functions_of(const std::filesystem::path& header) {
  std::map<std::string, std::string> out;
  if (!std::filesystem::exists(header)) return out;
  const std::string text = read_file(header);
  const std::regex declaration(R"((?:^|\n)[A-Za-z][\w:<>&, ]* (\w+)\(([^;{}()]*)\);)");
  for (std::sregex_iterator it(text.begin(), text.end(), declaration), end; it != end; ++it) {
    out[(*it)[1]] = std::regex_replace((*it)[2].str(), std::regex(R"(\s+)"), " ");
  }
  return out;
}

std::string all_tests() {
  std::string out;
  const auto folder = std::filesystem::path(HEWN_SOURCE_DIR) / "tests/kernels";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) out += read_file(entry.path());
  return out;
}

TEST(Twins, EveryKernelHasOneThatATestCompares) {
  const auto folder = std::filesystem::path(HEWN_SOURCE_DIR) / "hewn/kernels";
  const std::string tests = all_tests();
  auto unused = kWithoutTwin;
  int twins = 0;
  std::vector<std::filesystem::path> headers;
  for (const char* part : {"", "bf16", "int8", "matrix", "planes"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder / part)) {
      if (entry.path().extension() == ".h") headers.push_back(entry.path());
    }
  }
  for (const auto& header : headers) {
    auto plain = functions_of(folder / "reference" / header.filename());
    plain.merge(functions_of(folder / "reference/narrow" / header.filename()));
    for (const auto& [name, parameters] : functions_of(header)) {
      if (unused.erase(name) == 1) continue;
      ASSERT_TRUE(plain.contains(name)) << header << ": " << name << " has no twin in reference/";
      EXPECT_EQ(plain.at(name), parameters) << name;
      EXPECT_TRUE(std::regex_search(tests, std::regex("reference::" + name + R"(\b)")))
          << "no test compares " << name << " with its twin";
      ++twins;
    }
  }
  EXPECT_GT(twins, 20);
  EXPECT_TRUE(unused.empty()) << unused.begin()->first << " is not declared any more";
}

}  // namespace
}  // namespace hewn::kernels

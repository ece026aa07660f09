#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "hewn/core/files.h"
#include "hewn/flow/op/operator.h"

namespace hewn::flow {
namespace {

TEST(OperatorTable, ListsEveryOperatorOnce) {
  const std::string text = read_file(HEWN_SOURCE_DIR "/docs/onnx.md");
  const size_t begin = text.find("## Operators");
  ASSERT_NE(begin, std::string::npos);
  const std::string section = text.substr(begin, text.find("\n## ", begin) - begin);
  std::multiset<std::string> listed;
  std::istringstream lines(section);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string cell = line.substr(2, line.find(" |") - 2);
    const std::regex name("`([A-Za-z0-9]+)`");
    for (std::sregex_iterator found(cell.begin(), cell.end(), name), end; found != end; ++found) {
      listed.insert((*found)[1]);
    }
  }
  std::multiset<std::string> known;
  for (const Operator* one : operators()) known.insert(std::string(one->name));
  EXPECT_EQ(listed, known);
}

}  // namespace
}  // namespace hewn::flow

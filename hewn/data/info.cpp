#include "hewn/data/info.h"

namespace hewn::data {

const std::vector<SourceFacts>& source_facts() {
  static const std::vector<SourceFacts> kRows = {
#define HEWN_SOURCE(function, name, help, input, classes, kind) {name, help, {name, input, classes, kind}},
#include "hewn/data/sources.def"
#undef HEWN_SOURCE
  };
  return kRows;
}

std::string path_in(const std::string& spec) {
  const size_t colon = spec.find(':');
  return colon == std::string::npos ? "" : spec.substr(colon + 1);
}

const DataInfo& find_info(const std::string& spec) {
  return find_row(source_facts(), spec.substr(0, spec.find(':')), "data").info;
}

}  // namespace hewn::data

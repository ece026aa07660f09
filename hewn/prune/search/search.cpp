#include "hewn/prune/search/search.h"

#include "hewn/core/error.h"
#include "hewn/core/text.h"

namespace hewn::prune {

#define HEWN_SEARCH(function, name, help) std::vector<at::Tensor> function(const std::vector<Candidates>&);
#include "hewn/prune/search/searches.def"
#undef HEWN_SEARCH

const std::vector<SearchRow>& searches() {
  static const std::vector<SearchRow> kRows = {
#define HEWN_SEARCH(function, name, help) {name, help, function},
#include "hewn/prune/search/searches.def"
#undef HEWN_SEARCH
  };
  return kRows;
}

Search find_search(const std::string& name) {
  std::vector<std::string> names;
  for (const SearchRow& row : searches()) {
    if (row.name == name) return row.search;
    names.emplace_back(row.name);
  }
  throw Error(str("search: unknown name \"", name, "\"; known: ", join(names)));
}

}  // namespace hewn::prune

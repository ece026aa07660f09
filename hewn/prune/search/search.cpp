#include "hewn/prune/search/search.h"

#include "hewn/core/table.h"

namespace hewn::prune {

#define HEWN_SEARCH(function, name, help) \
  std::vector<at::Tensor> function(const std::vector<Candidates>&, const Limits&);
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

Search find_search(const std::string& name) { return find_row(searches(), name, "search").search; }

}  // namespace hewn::prune

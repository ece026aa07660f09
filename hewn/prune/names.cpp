#include "hewn/prune/names.h"

namespace hewn::prune {

const std::vector<NameRow>& score_names() {
  static const std::vector<NameRow> kRows = {
#define HEWN_SCORE(function, name, help) {name, help},
#include "hewn/prune/score/scores.def"
#undef HEWN_SCORE
  };
  return kRows;
}

const std::vector<NameRow>& search_names() {
  static const std::vector<NameRow> kRows = {
#define HEWN_SEARCH(function, name, help) {name, help},
#include "hewn/prune/search/searches.def"
#undef HEWN_SEARCH
  };
  return kRows;
}

}  // namespace hewn::prune

#include "hewn/prune/score/score.h"

#include "hewn/core/table.h"

namespace hewn::prune {

#define HEWN_SCORE(function, name, help) \
  std::unique_ptr<Score> function(const ScoredWeight&, const ScoreOptions&);
#include "hewn/prune/score/scores.def"
#undef HEWN_SCORE

const std::vector<ScoreRow>& scores() {
  static const std::vector<ScoreRow> kRows = {
#define HEWN_SCORE(function, name, help) {name, help, function},
#include "hewn/prune/score/scores.def"
#undef HEWN_SCORE
  };
  return kRows;
}

std::unique_ptr<Score> make_score(const std::string& name, const ScoredWeight& weight,
                                  const ScoreOptions& options) {
  return find_row(scores(), name, "score").make(weight, options);
}

}  // namespace hewn::prune

#include "hewn/prune/score/score.h"

#include "hewn/core/error.h"
#include "hewn/core/text.h"

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
  std::vector<std::string> names;
  for (const ScoreRow& row : scores()) {
    if (row.name == name) return row.make(weight, options);
    names.emplace_back(row.name);
  }
  throw Error(str("score: unknown name \"", name, "\"; known: ", join(names)));
}

}  // namespace hewn::prune

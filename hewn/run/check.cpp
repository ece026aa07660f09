#include "hewn/core/error.h"
#include "hewn/data/info.h"
#include "hewn/nn/signature.h"
#include "hewn/run/recipe.h"

namespace hewn::run {

void check_options(const Options& given) {
  Options o = given;
  describe(o).check();
  if (o.lr_schedule == "exponential" && o.lr_end <= 0) {
    throw Error(str("lr-end: expected a number above 0 with lr-schedule exponential, got ", o.lr_end));
  }
  data::find_info(o.data);
  nn::usual_signature(o.model);
  check(pruner_options(o, 0));
}

}  // namespace hewn::run

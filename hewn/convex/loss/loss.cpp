#include "hewn/convex/loss/loss.h"

#include "hewn/core/table.h"

namespace hewn::convex {

#define HEWN_LOSS(function, name, help) const Loss& function();
#include "hewn/convex/loss/losses.def"
#undef HEWN_LOSS

const std::vector<LossRow>& losses() {
  static const std::vector<LossRow> rows = {
#define HEWN_LOSS(function, name, help) {name, help, function},
#include "hewn/convex/loss/losses.def"
#undef HEWN_LOSS
  };
  return rows;
}

const Loss& find_loss(const std::string& name) { return find_row(losses(), name, "task").get(); }

}  // namespace hewn::convex

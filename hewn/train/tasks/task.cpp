#include "hewn/train/tasks/task.h"

#include "hewn/core/error.h"
#include "hewn/train/tasks/click_task.h"
#include "hewn/train/tasks/image_task.h"
#include "hewn/train/tasks/number_task.h"
#include "hewn/train/tasks/text_task.h"

namespace hewn::train {

std::shared_ptr<const Task> make_task(data::Kind kind, double label_smoothing, double target_scale) {
  if (kind == data::Kind::kImages || kind == data::Kind::kClasses) {
    return std::make_shared<ImageTask>(label_smoothing);
  }
  if (kind == data::Kind::kText) return std::make_shared<TextTask>(label_smoothing);
  if (label_smoothing != 0) {
    throw Error(hewn::str("label-smoothing: is for classes; leave it out for ",
                          kind == data::Kind::kClicks ? "click logs" : "regression"));
  }
  if (kind == data::Kind::kNumbers) return std::make_shared<NumberTask>(target_scale);
  return std::make_shared<ClickTask>();
}

}  // namespace hewn::train

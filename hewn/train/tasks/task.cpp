#include "hewn/train/tasks/task.h"

#include "hewn/core/error.h"
#include "hewn/train/tasks/click_task.h"
#include "hewn/train/tasks/image_task.h"

namespace hewn::train {

std::shared_ptr<const Task> make_task(data::Kind kind, double label_smoothing) {
  if (kind == data::Kind::kImages) return std::make_shared<ImageTask>(label_smoothing);
  if (label_smoothing != 0) throw Error("label-smoothing: is for images; leave it out for click logs");
  return std::make_shared<ClickTask>();
}

}  // namespace hewn::train

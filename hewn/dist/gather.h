#pragma once

#include "hewn/dist/communicator.h"

namespace hewn::dist {

/// Everyone's tensor, by rank, where they differ in their first dimension only.
std::vector<at::Tensor> gather_uneven(Communicator& group, const at::Tensor& tensor);

}  // namespace hewn::dist

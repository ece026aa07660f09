#pragma once

#include <map>
#include <string>

#include "hewn/data/source.h"
#include "hewn/dist/communicator.h"

namespace hewn::train {

/// Throws Error on every process, naming a rank and what differs, where one was given other options than rank
/// 0. Those that do not decide what is trained may differ.
void check_same_options(const std::map<std::string, std::string>& given, dist::Communicator& group);

/// The same where one sees other data than rank 0: other sizes, or other rows.
void check_same_data(const data::Source& source, dist::Communicator& group);

}  // namespace hewn::train

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/data/tables/encoding.h"
#include "hewn/data/tables/options.h"

namespace hewn::data {

inline constexpr std::string_view kTargetArray =
    "y0";  // what the column of a target beside the features is called

/// What the columns of a file are for, by their numbers. Others are left out.
struct Columns {
  std::vector<size_t> numbers;
  std::vector<size_t> categories;
  std::optional<size_t> target;
};

/// From the names of a file's columns, and whether the file itself says them.
using ChooseColumns = std::function<Columns(const std::vector<std::string>& names, bool named)>;

/// As hewn select understands them: what is named for nothing else is a feature. Arguments must outlive it.
ChooseColumns columns_by(const TableOptions& options, const std::string& path);
/// For new rows: by their names, or by their places where the file does not say them.
ChooseColumns columns_by(const TableEncoding& encoding, const std::string& where);

}  // namespace hewn::data

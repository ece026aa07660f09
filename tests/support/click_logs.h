#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace hewn::test {

/// One row in Criteo's format. Values are skewed, some are missing; rows of equal numbers are equal.
std::string criteo_row(uint64_t number);

/// Rows first to first + count - 1, each with its newline.
std::string criteo_rows(uint64_t first, uint64_t count);

void write_gzip(const std::filesystem::path& path, const std::string& text);

}  // namespace hewn::test

#pragma once

#include <filesystem>

namespace hewn::test {

/// Writes a small data set in MNIST's format that can be learned: each class lights up its own pixels.
void write_tiny_mnist(const std::filesystem::path& folder, int train, int test);

}  // namespace hewn::test

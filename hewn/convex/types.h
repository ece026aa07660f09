#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>

namespace hewn::convex {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;  // column-major
using Vector = Eigen::VectorXd;
/// Borrowed columns of a matrix: any matrix or block whose columns are contiguous.
using ConstView = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;
using View = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;
/// Columns of a design, by number.
using Features = std::span<const int>;

/// Sizes are signed in Eigen and unsigned in the standard library.
inline std::size_t to_size(Index i) { return static_cast<std::size_t>(i); }
inline Index to_index(std::size_t i) { return static_cast<Index>(i); }

}  // namespace hewn::convex

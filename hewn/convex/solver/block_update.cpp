#include "hewn/convex/solver/block_update.h"

#include <algorithm>
#include <cmath>

namespace hewn::convex {

Spectrum to_eigenbasis(const Block& block, const std::vector<Part>& parts, const double* values,
                       const double* slope, BlockScratch& scratch) {
  Index row = 0;
  for (std::size_t i = 0; i < block.parts.size(); ++i) {
    const Part& part = parts[i];
    const Index m = to_index(part.features.size());
    const Eigen::Map<const Matrix> old(values + part.offset, m, part.outputs);
    const Eigen::Map<const Matrix> pull(slope + part.offset, m, part.outputs);
    Eigen::Map<Matrix> u(scratch.u.data() + part.offset, m, part.outputs);
    const auto curvature = block.curvature.segment(row, m);
    if (m == 1) {
      u = pull + curvature[0] * old;
    } else {
      u.noalias() = block.parts[i].vectors.transpose() * old;
      u.array().colwise() *= curvature.array();
      u.noalias() += block.parts[i].vectors.transpose() * pull;
    }
    for (Index r = 0; r < m; ++r) scratch.u2[row + r] = u.row(r).squaredNorm();
    row += m;
  }
  return {block.curvature.data(), scratch.u2.data(), block.curvature.size()};
}

void from_eigenbasis(const Block& block, const std::vector<Part>& parts, double nu, BlockScratch& scratch,
                     double* values) {
  Index row = 0;
  for (std::size_t i = 0; i < block.parts.size(); ++i) {
    const Part& part = parts[i];
    const Index m = to_index(part.features.size());
    Eigen::Map<Matrix> u(scratch.u.data() + part.offset, m, part.outputs);
    Eigen::Map<Matrix> out(values + part.offset, m, part.outputs);
    for (Index r = 0; r < m; ++r) {
      const double d = block.curvature[row + r] + nu;
      u.row(r) *= d > 0 ? 1 / d : 0;
    }
    if (m == 1) {
      out = u;
    } else {
      out.noalias() = block.parts[i].vectors * u;
    }
    row += m;
  }
}

SingleStep single_step(double value, double slope, double curvature, double l) {
  const double violation =
      value != 0 ? std::abs(slope - std::copysign(l, value)) : std::max(0.0, std::abs(slope) - l);
  const double u = slope + curvature * value;
  const double rest = std::abs(u) - l;
  if (!(rest > 0) || curvature <= 0) return {violation, -value};
  return {violation, std::copysign(rest / curvature, u) - value};
}

}  // namespace hewn::convex

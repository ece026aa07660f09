#include "hewn/convex/design/centred.h"

namespace hewn::convex {

Centred::Centred(const Design& base, const Vector& scale, const Vector& weights, bool centre)
    : base_(&base), scale_(scale), weights_(weights), mean_(Vector::Zero(base.cols())), centre_(centre) {
  if (!centre) return;
  Matrix sums(cols(), 1);
  base.transpose_times(weights, sums);
  mean_ = sums.col(0).cwiseProduct(scale) / weights.sum();
}

void Centred::transpose_times(Features features, const ConstView& v, const Eigen::RowVectorXd& sums,
                              View out) const {
  base_->transpose_times(features, v, out);
  for (std::size_t i = 0; i < features.size(); ++i) {
    out.row(to_index(i)) *= scale_[features[i]];
    if (centre_) out.row(to_index(i)) -= mean_[features[i]] * sums;
  }
}

void Centred::transpose_times(const ConstView& v, const Eigen::RowVectorXd& sums, View out) const {
  base_->transpose_times(v, out);
  for (Index k = 0; k < out.cols(); ++k) {
    out.col(k).array() = out.col(k).array() * scale_.array() - mean_.array() * sums[k];
  }
}

void Centred::add_times(Features features, const ConstView& coefficients, View out) const {
  Matrix scaled = coefficients;
  Eigen::RowVectorXd shift = Eigen::RowVectorXd::Zero(coefficients.cols());
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (centre_) shift += mean_[features[i]] * scaled.row(to_index(i));
    scaled.row(to_index(i)) *= scale_[features[i]];
  }
  base_->add_times(features, scaled, out);
  if (centre_) out.rowwise() -= shift;
}

void Centred::gram(Features a, Features b, View out) const {
  base_->gram(a, b, weights_, out);
  const double total = weights_.sum();
  for (std::size_t j = 0; j < b.size(); ++j) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      double& entry = out(to_index(i), to_index(j));
      entry = entry * scale_[a[i]] * scale_[b[j]] - total * mean_[a[i]] * mean_[b[j]];
    }
  }
}

}  // namespace hewn::convex

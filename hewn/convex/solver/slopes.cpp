#include "hewn/convex/solver/slopes.h"

#include <stdexcept>

#include "hewn/convex/linalg/products.h"

namespace hewn::convex {
namespace {

/// Minus the gradient of every column, kept current by inner products: s m per update, whatever n is.
class GramSlopes final : public Slopes {
 public:
  GramSlopes(const Quadratic& quadratic, const ConstView& v, const Vector& beta,
             const std::vector<Index>& working)
      : quadratic_(quadratic), c_(quadratic.columns(), v.cols()) {
    quadratic.x().transpose_times(quadratic.features(), v, v.colwise().sum(), c_);
    if (quadratic.ridge() == 0) return;
    for (const Index g : working) {
      const Block& block = quadratic.block(g);
      for (std::size_t i = 0; i < block.parts.size(); ++i) {
        const Part& part = quadratic.groups().parts(g)[i];
        const double* b = beta.data() + quadratic.groups().start(g) + part.offset;
        for (int k = 0; k < part.outputs; ++k) {
          for (const Index column : block.parts[i].columns)
            c_(column, part.first_output + k) -= quadratic.ridge() * *b++;
        }
      }
    }
  }

  void read(const Part& part, const PartBasis& basis, const ConstView&, View out) const override {
    if (basis.in_a_row) {
      out = c_.block(basis.column, part.first_output, out.rows(), out.cols());
      return;
    }
    for (Index i = 0; i < out.rows(); ++i) {
      out.row(i) = c_.row(basis.columns[to_size(i)]).segment(part.first_output, part.outputs);
    }
  }

  void change(const Part& part, const PartBasis& basis, const ConstView& delta) override {
    step_ = -quadratic_.factor() * delta;
    const auto gram = quadratic_.gram();
    double* to = c_.data() + part.first_output * c_.rows();
    const Index m = delta.rows();
    if (basis.in_a_row) {
      const Columns columns{gram.data() + basis.column * gram.outerStride(), gram.outerStride(), nullptr, m};
      add_combinations(columns, c_.rows(), step_.data(), m, to, c_.rows(), delta.cols());
    } else {
      for (Index i = 0; i < m; ++i) {
        const Columns column{gram.data() + basis.columns[to_size(i)] * gram.outerStride(), 0, nullptr, 1};
        add_combinations(column, c_.rows(), step_.data() + i, m, to, c_.rows(), delta.cols());
      }
    }
    if (quadratic_.ridge() == 0) return;
    for (Index k = 0; k < delta.cols(); ++k) {
      for (Index i = 0; i < m; ++i) {
        c_(basis.columns[to_size(i)], part.first_output + k) -= quadratic_.ridge() * delta(i, k);
      }
    }
  }

  void change_columns(std::span<const int> columns, const double* delta) override {
    const auto gram = quadratic_.gram();
    const Index count = to_index(columns.size());
    scaled_.resize(columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      scaled_[i] = -quadratic_.factor() * delta[i];
      c_(columns[i], 0) -= quadratic_.ridge() * delta[i];
    }
    add_combinations({gram.data(), gram.outerStride(), columns.data(), count}, c_.rows(), scaled_.data(),
                     count, c_.data(), c_.rows(), 1);
  }

  const Matrix& all() const override { return c_; }
  void replace(Matrix all) override { c_ = std::move(all); }
  double difference(const Matrix&, double products, double) const override { return -0.5 * products; }

 private:
  const Quadratic& quadratic_;
  Matrix c_;  // columns x K
  Matrix step_;
  std::vector<double> scaled_;
};

/// The weighted residual of the quadratic: 2 n m per update, whatever the number of active features is.
class ResidualSlopes final : public Slopes {
 public:
  ResidualSlopes(const Quadratic& quadratic, const ConstView& v)
      : quadratic_(quadratic), v_(v), sums_(v.colwise().sum()), scratch_(v.rows(), v.cols()) {}

  void read(const Part& part, const PartBasis&, const ConstView& b, View out) const override {
    quadratic_.x().transpose_times(part.features, v_.middleCols(part.first_output, part.outputs),
                                   sums_.segment(part.first_output, part.outputs), out);
    if (quadratic_.ridge() != 0) out -= quadratic_.ridge() * b;
  }

  // Centred columns leave the sums of v as they are.
  void change(const Part& part, const PartBasis&, const ConstView& delta) override {
    auto step = scratch_.leftCols(part.outputs);
    step.setZero();
    quadratic_.x().add_times(part.features, delta, step);
    v_.middleCols(part.first_output, part.outputs).array() -=
        quadratic_.factor() * (step.array().colwise() * quadratic_.weights().array());
  }

  void change_columns(std::span<const int>, const double*) override {
    throw std::logic_error("change_columns: these slopes have no inner products");
  }

  const Matrix& all() const override { return v_; }
  void replace(Matrix all) override { v_ = std::move(all); }
  double difference(const Matrix& other, double, double squares) const override {
    double sum = 0;
    for (Index k = 0; k < v_.cols(); ++k) {
      for (Index i = 0; i < v_.rows(); ++i) {
        const double w = quadratic_.weights()[i];
        if (w > 0) sum += (other(i, k) - v_(i, k)) * (other(i, k) + v_(i, k)) / w;
      }
    }
    return 0.5 * sum / quadratic_.factor() + 0.5 * quadratic_.ridge() * squares;
  }

 private:
  const Quadratic& quadratic_;
  Matrix v_;
  Eigen::RowVectorXd sums_;
  Matrix scratch_;
};

}  // namespace

std::unique_ptr<Slopes> gram_slopes(const Quadratic& quadratic, const ConstView& v, const Vector& beta,
                                    const std::vector<Index>& working) {
  return std::make_unique<GramSlopes>(quadratic, v, beta, working);
}

std::unique_ptr<Slopes> residual_slopes(const Quadratic& quadratic, const ConstView& v) {
  return std::make_unique<ResidualSlopes>(quadratic, v);
}

}  // namespace hewn::convex

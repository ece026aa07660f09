#include "hewn/convex/solver/slopes.h"

#include "hewn/convex/linalg/products.h"

namespace hewn::convex {
namespace {

/// Minus the gradient of every slot, kept current by inner products: s m per update, whatever n is.
class GramSlopes final : public Slopes {
 public:
  GramSlopes(const Model& model, const ConstView& v, const Vector& beta, const std::vector<Index>& working)
      : model_(model), c_(model.slots(), v.cols()) {
    model.x().transpose_times(model.features(), v, v.colwise().sum(), c_);
    if (model.ridge() == 0) return;
    for (const Index g : working) {
      const Block& block = model.block(g);
      for (std::size_t i = 0; i < block.parts.size(); ++i) {
        const Part& part = model.groups().parts(g)[i];
        const double* b = beta.data() + model.groups().start(g) + part.offset;
        for (int k = 0; k < part.outputs; ++k) {
          for (const Index slot : block.parts[i].slots)
            c_(slot, part.first_output + k) -= model.ridge() * *b++;
        }
      }
    }
  }

  void read(const Part& part, const PartBasis& basis, const ConstView&, View out) const override {
    if (basis.in_a_row) {
      out = c_.block(basis.slot, part.first_output, out.rows(), out.cols());
      return;
    }
    for (Index i = 0; i < out.rows(); ++i) {
      out.row(i) = c_.row(basis.slots[to_size(i)]).segment(part.first_output, part.outputs);
    }
  }

  void change(const Part& part, const PartBasis& basis, const ConstView& delta) override {
    const Matrix step = -model_.factor() * delta;
    const auto gram = model_.gram();
    double* to = c_.data() + part.first_output * c_.rows();
    const Index m = delta.rows();
    if (basis.in_a_row) {
      const Columns columns{gram.data() + basis.slot * gram.outerStride(), gram.outerStride(), nullptr, m};
      add_combinations(columns, c_.rows(), step.data(), m, to, c_.rows(), delta.cols());
    } else {
      for (Index i = 0; i < m; ++i) {
        const Columns column{gram.data() + basis.slots[to_size(i)] * gram.outerStride(), 0, nullptr, 1};
        add_combinations(column, c_.rows(), step.data() + i, m, to, c_.rows(), delta.cols());
      }
    }
    if (model_.ridge() == 0) return;
    for (Index k = 0; k < delta.cols(); ++k) {
      for (Index i = 0; i < m; ++i) {
        c_(basis.slots[to_size(i)], part.first_output + k) -= model_.ridge() * delta(i, k);
      }
    }
  }

  const Matrix& all() const override { return c_; }
  void replace(Matrix all) override { c_ = std::move(all); }
  double difference(const Matrix&, double products, double) const override { return -0.5 * products; }

 private:
  const Model& model_;
  Matrix c_;  // slots x K
};

/// The weighted residual of the model: 2 n m per update, whatever the number of active features is.
class ResidualSlopes final : public Slopes {
 public:
  ResidualSlopes(const Model& model, const ConstView& v)
      : model_(model), v_(v), sums_(v.colwise().sum()), scratch_(v.rows(), v.cols()) {}

  void read(const Part& part, const PartBasis&, const ConstView& b, View out) const override {
    model_.x().transpose_times(part.features, v_.middleCols(part.first_output, part.outputs),
                               sums_.segment(part.first_output, part.outputs), out);
    if (model_.ridge() != 0) out -= model_.ridge() * b;
  }

  // Centred columns leave the sums of v as they are.
  void change(const Part& part, const PartBasis&, const ConstView& delta) override {
    auto step = scratch_.leftCols(part.outputs);
    step.setZero();
    model_.x().add_times(part.features, delta, step);
    v_.middleCols(part.first_output, part.outputs).array() -=
        model_.factor() * (step.array().colwise() * model_.weights().array());
  }

  const Matrix& all() const override { return v_; }
  void replace(Matrix all) override { v_ = std::move(all); }
  double difference(const Matrix& other, double, double squares) const override {
    double sum = 0;
    for (Index k = 0; k < v_.cols(); ++k) {
      for (Index i = 0; i < v_.rows(); ++i) {
        const double w = model_.weights()[i];
        if (w > 0) sum += (other(i, k) - v_(i, k)) * (other(i, k) + v_(i, k)) / w;
      }
    }
    return 0.5 * sum / model_.factor() + 0.5 * model_.ridge() * squares;
  }

 private:
  const Model& model_;
  Matrix v_;
  Eigen::RowVectorXd sums_;
  Matrix scratch_;
};

}  // namespace

std::unique_ptr<Slopes> gram_slopes(const Model& model, const ConstView& v, const Vector& beta,
                                    const std::vector<Index>& working) {
  return std::make_unique<GramSlopes>(model, v, beta, working);
}

std::unique_ptr<Slopes> residual_slopes(const Model& model, const ConstView& v) {
  return std::make_unique<ResidualSlopes>(model, v);
}

}  // namespace hewn::convex

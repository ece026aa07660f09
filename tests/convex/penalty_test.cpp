#include "hewn/convex/penalty/penalty.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hewn/convex/penalty/block_root.h"
#include "hewn/core/error.h"
#include "tests/convex/support.h"

namespace hewn::convex {
namespace {

const std::vector<std::string> kScalars = {"abs", "power:0.5", "power:0.8", "log", "lambert", "l23"};

TEST(Scalar, LambertWSolvesItsEquation) {
  for (const double x : {1e-12, 1e-3, 0.5, 1.0, 2.718281828459045, 10.0, 1e6, 1e200}) {
    const double w = lambert_w(x);
    EXPECT_NEAR(std::log(w) + w, std::log(x), 1e-13 * (1 + std::abs(std::log(x))));
  }
  EXPECT_EQ(lambert_w(0), 0);
}

TEST(Scalar, InverseAndSlopeFit) {
  for (const std::string& name : kScalars) {
    const auto q = make_scalar(name);
    EXPECT_EQ(q->value(0), 0) << name;
    for (const double x : {1e-3, 0.1, 0.7, 2.0, 30.0}) {
      EXPECT_NEAR(q->inverse(q->value(x)), x, 1e-12 * x) << name;
      const double h = 1e-6 * x;
      EXPECT_NEAR((q->value(x + h) - q->value(x - h)) / (2 * h), q->slope_over(x) * x,
                  1e-7 * q->slope_over(x) * x)
          << name;
    }
  }
}

// Correction 1: q of exp masks is not subadditive; the others are.
TEST(Scalar, OnlyLambertBreaksSubadditivity) {
  for (const std::string& name : kScalars) {
    const auto q = make_scalar(name);
    bool breaks = false;
    for (int i = 1; i < 60; ++i) {
      for (int j = 1; j < 60; ++j) {
        const double x = 0.05 * i;
        const double y = 0.05 * j;
        breaks = breaks || q->value(x + y) > q->value(x) + q->value(y) + 1e-12;
      }
    }
    EXPECT_EQ(breaks, !q->is_subadditive()) << name;
  }
  const auto q = make_scalar("lambert");
  EXPECT_NEAR(q->value(0.2), 0.03852, 5e-6);
  EXPECT_NEAR(2 * q->value(0.1), 0.01980, 5e-6);
  EXPECT_THROW(Penalty(Form::kComposed, "lambert"), Error);
}

TEST(Scalar, ProximalMapsAreGlobalMinimisers) {
  for (const std::string& name : kScalars) {
    const auto q = make_scalar(name);
    for (const double mu : {0.01, 0.3, 1.0, 2.5, 20.0}) {
      for (const double z : {0.0, 0.05, 0.4, 1.0, 2.0, 5.0, 12.0}) {
        const auto cost = [&](double x) { return (x - z) * (x - z) / 2 + mu * q->value(x); };
        double best = cost(0);
        for (int i = 1; i <= 20000; ++i) best = std::min(best, cost(z * i / 20000));
        const double x = q->prox(z, mu);
        EXPECT_LE(cost(x), best + 1e-12) << name << " mu " << mu << " z " << z;
        if (x > 0) {
          EXPECT_NEAR(x - z + mu * q->slope_over(x) * x, 0, 1e-10 * (1 + z)) << name;
        }
      }
    }
  }
}

TEST(BlockRoot, IsTheMinimumOverTheBlock) {
  for (const std::string& name : kScalars) {
    for (const Form form : {Form::kSum, Form::kComposed}) {
      if (form == Form::kComposed && name == "lambert") continue;
      const Penalty penalty(form, name);
      for (const double others : {0.0, 0.6}) {
        for (const double lambda : {0.1, 0.9, 3.0}) {
          const double curvature[3] = {0.2, 1.0, 4.0};
          const double u2[3] = {0.5, 2.0, 1.5};
          const Spectrum spectrum{curvature, u2, 3};
          const Along along{&penalty, lambda, 1.3, others};
          const double nu = multiplier(spectrum, along);
          const BlockPoint point = block_point(spectrum, nu);
          const double found = point.quadratic + along.value(point.norm);
          double best = along.value(0);
          for (int i = -4000; i <= 4000; ++i) {  // every point on the curve of candidates
            const BlockPoint at = block_point(spectrum, std::pow(10.0, i / 500.0));
            best = std::min(best, at.quadratic + along.value(at.norm));
          }
          EXPECT_LE(found, best + 1e-12) << name << " " << lambda << " " << others;
          EXPECT_GE(found, best - 1e-4) << name << " " << lambda << " " << others;
        }
      }
    }
  }
}

TEST(Penalty, ComposedIsAtLeastTheGroupLasso) {
  for (const std::string name : {"power:0.5", "log", "l23"}) {
    const Penalty composed(Form::kComposed, name);
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const Vector r = normal(5, 1, seed).cwiseAbs();
      EXPECT_GE(composed.value(r, Vector::Ones(5)), r.sum() * (1 - 1e-14)) << name;
      Vector one = Vector::Zero(5);
      one[2] = r[2];
      EXPECT_NEAR(composed.value(one, Vector::Ones(5)), r[2], 1e-12) << name;
    }
  }
}

TEST(Penalty, NamesAreChecked) {
  EXPECT_THROW(make_scalar("powr:0.5"), Error);
  EXPECT_THROW(make_scalar("power:1.5"), Error);
  EXPECT_THROW(make_scalar("power:x"), Error);
  EXPECT_THROW(make_scalar("log:2"), Error);
}

}  // namespace
}  // namespace hewn::convex

#include "hewn/run/method_name.h"

#include <gtest/gtest.h>

#include "hewn/run/recipe.h"

namespace hewn::run {
namespace {

TEST(MethodName, SaysWhichPartsAreNotTheMethodsOwn) {
  EXPECT_EQ(method_name(options_from({})), "sa++r");
  EXPECT_EQ(method_name(options_from({{"model", "resnet20"}})), "sa++r");
  EXPECT_EQ(method_name(options_from({{"budget", "flops=0.2"}})), "sa++r with budget=flops=0.2");
  EXPECT_EQ(method_name(options_from({{"search", "global"}})), "sa++r with budget=global");
  EXPECT_EQ(method_name(options_from({{"score", "magnitude"}})), "sa++r with score=magnitude");
  EXPECT_EQ(method_name(options_from({{"method", "sa++r"}, {"score", "magnitude"}, {"drop", "mask"}})),
            "sa++r with score=magnitude, drop=mask");
  EXPECT_EQ(method_name(options_from({{"schedule", "acdc"}, {"logit-lr", "3"}})),
            "sa++r with schedule=acdc/imagenet, logit-lr=3");
  EXPECT_EQ(method_name(options_from({{"no-sparsification", "true"}})), "sa++r with sparsification=false");
  // What is given but the same is no change, nor is what fits data and optimiser.
  EXPECT_EQ(method_name(options_from({{"score", "gated-norm"}, {"schedule", "sa++"}})), "sa++r");
  EXPECT_EQ(method_name(options_from({{"data", "synthetic-ctr"}})), "sa++r");
  EXPECT_EQ(method_name(options_from({{"optimiser", "adam"}})), "sa++r");
  // Nothing is scored or dropped.
  EXPECT_EQ(method_name(options_from({{"method", "dense"}, {"score", "magnitude"}})), "dense");
}

TEST(MethodName, SaysThatThereIsATeacher) {
  EXPECT_EQ(method_name(options_from({{"teacher", "a/b.pt"}})), "sa++r with teacher");
  EXPECT_EQ(method_name(options_from({{"teacher", "self-dense"}, {"drop", "mask"}})),
            "sa++r with teacher, drop=mask");
  EXPECT_EQ(method_name(options_from({{"teacher", "a/b.pt"}, {"teacher-share", "0"}})), "sa++r");
  const Options dense = options_from({{"method", "dense"}, {"teacher", "a/b.pt"}});
  EXPECT_EQ(method_name(dense), "dense with teacher");
  EXPECT_TRUE(names_dense(method_name(dense)));
  EXPECT_TRUE(names_dense("dense"));
  EXPECT_FALSE(names_dense("dense+omp"));
  EXPECT_EQ(method_label(dense), "dense+teacher");
  EXPECT_EQ(method_label(options_from({{"teacher", "a/b.pt"}})), "auto+teacher-b16-s0.9");
}

TEST(MethodName, OfARecordedRunIsTheSame) {
  for (const char* data : {"fashion-mnist", "synthetic-ctr"}) {
    for (const char* drop : {"mask", "zero"}) {
      const Options given = options_from({{"data", data}, {"drop", drop}, {"search", "global"}});
      Options recorded = given;
      record_recipe(resolve_recipe(given), recorded);
      EXPECT_EQ(method_name(recorded), method_name(given));
    }
  }
}

TEST(MethodName, IsPartOfAFoldersName) {
  EXPECT_EQ(method_label(options_from({})), "auto-b16-s0.9");
  EXPECT_EQ(method_label(options_from({{"score", "magnitude"}, {"schedule", "acdc"}})),
            "auto+score=magnitude+schedule=acdc-imagenet-b16-s0.9");
  EXPECT_EQ(method_label(options_from({{"method", "dense"}})), "dense");
}

}  // namespace
}  // namespace hewn::run

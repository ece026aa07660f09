// What a run looks like while it goes on.
#include "cli/terminal.h"

#include <gtest/gtest.h>

#include <iostream>
#include <sstream>

namespace hewn::cli {
namespace {

/// Standard error while it lives.
class Captured {
 public:
  Captured() : before_(std::cerr.rdbuf(text_.rdbuf())) {}
  ~Captured() { std::cerr.rdbuf(before_); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* before_;
};

run::Course course() {
  run::Course out;
  out.steps = 300;
  out.left = {300, 0, 0};
  out.evaluations = 4;
  return out;
}

run::Progress progress(int64_t step, double loss) {
  run::Progress out;
  out.step = step;
  out.steps = 300;
  out.loss = loss;
  out.accuracy = 81.5;
  return out;
}

run::Evaluation evaluation(int64_t step, data::Part part) {
  return {step, 300, prune::Phase::kSparse, part, {{"accuracy", 77.25}}, 12};
}

TEST(Terminal, ALineHoldsValuesOfOneStepOnly) {
  const Captured captured;
  Terminal terminal(/*quiet=*/false, /*is_terminal=*/false);
  terminal.on_begin(course());
  terminal.on_progress(progress(50, 0.5));
  terminal.on_evaluation(evaluation(93, data::Part::kTest));
  terminal.on_progress(progress(100, 0.25));
  terminal.on_evaluation(evaluation(100, data::Part::kValidation));
  EXPECT_EQ(captured.text(),
            "step 93/300  SPARSE  test: accuracy 77.25 %  0:12\n"
            "step 100/300  SPARSE  loss 0.2500  train 81.5 %  active 100.0 %  validation: accuracy 77.25 %  "
            "0:12\n");
}

TEST(Terminal, TheBarIsThereAtOnceAndSaysWhichStepsItsValuesAreOf) {
  const Captured captured;
  {
    Terminal terminal(/*quiet=*/false, /*is_terminal=*/true);
    terminal.on_begin(course());
    EXPECT_NE(captured.text().find("[....................] 0/300"), std::string::npos) << captured.text();
    terminal.on_progress(progress(2, 0.5));
    terminal.on_step(3, prune::Phase::kDense);
    terminal.on_evaluation(evaluation(1, data::Part::kValidation));
  }
  const std::string last = captured.text().substr(captured.text().rfind('\r'));
  EXPECT_NE(last.find("3/300 DENSE"), std::string::npos) << last;
  EXPECT_NE(last.find("at 2: loss 0.5000"), std::string::npos) << last;
  EXPECT_EQ(last.back(), '\n');
}

TEST(Terminal, OtherWorkShowsWhereItStands) {
  const Captured captured;
  {
    Terminal terminal(/*quiet=*/false, /*is_terminal=*/true);
    terminal.on_evaluating(0, 40);
  }
  EXPECT_NE(captured.text().find("evaluating  0/40"), std::string::npos) << captured.text();
}

TEST(Terminal, SaysNothingWhereItShouldBeQuiet) {
  const Captured captured;
  for (const bool is_terminal : {false, true}) {
    Terminal terminal(/*quiet=*/true, is_terminal);
    terminal.on_begin(course());
    terminal.on_step(1, prune::Phase::kDense);
    terminal.on_evaluation(evaluation(1, data::Part::kTest));
    terminal.on_work("measuring", 0, 3);
    terminal.on_message("hello");
  }
  EXPECT_EQ(captured.text(), "");
}

}  // namespace
}  // namespace hewn::cli

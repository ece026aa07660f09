#pragma once

#include <string>
#include <vector>

namespace hewn::flow {

/// What Einsum multiplies and sums: a letter for every dimension of its inputs and of the output. "..." are
/// dimensions without letters, as many as there are.
struct Equation {
  struct Term {
    std::string before;  // letters in front of "...", or all of them
    std::string behind;
    bool open = false;  // whether there is a "..."

    std::string letters() const { return before + behind; }
  };
  std::vector<Term> inputs;
  Term output;
};

/// Throws Error where the text is no equation.
Equation read_equation(const std::string& text);

}  // namespace hewn::flow

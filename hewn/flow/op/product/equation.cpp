#include "hewn/flow/op/product/equation.h"

#include <algorithm>
#include <cctype>

#include "hewn/core/error.h"

namespace hewn::flow {
namespace {

Error bad(const std::string& text, const std::string& problem) {
  return Error(str("equation \"", text.substr(0, 100), "\": ", problem));
}

Equation::Term read_term(const std::string& text, std::string_view part) {
  Equation::Term out;
  while (!part.empty()) {
    if (part.starts_with("...") && !out.open) {
      out.open = true;
      part.remove_prefix(3);
      continue;
    }
    const char letter = part[0];
    if (std::isalpha(static_cast<unsigned char>(letter)) == 0)
      throw bad(text, "expected letters, \"...\" once a term, commas and one \"->\"");
    (out.open ? out.behind : out.before) += letter;
    part.remove_prefix(1);
  }
  return out;
}

/// Without "->": "..." first, then the letters that are there once, in the order of the alphabet.
Equation::Term implied_output(const std::vector<Equation::Term>& inputs) {
  Equation::Term out;
  std::string all;
  for (const Equation::Term& term : inputs) {
    all += term.letters();
    out.open = out.open || term.open;
  }
  std::sort(all.begin(), all.end());
  std::string& letters = out.open ? out.behind : out.before;
  for (const char letter : all) {
    if (std::count(all.begin(), all.end(), letter) == 1) letters += letter;
  }
  return out;
}

void check_output(const std::string& text, const Equation& equation) {
  std::string all;
  bool open = false;
  for (const Equation::Term& term : equation.inputs) {
    all += term.letters();
    open = open || term.open;
  }
  const std::string letters = equation.output.letters();
  for (const char letter : letters) {
    if (all.find(letter) == std::string::npos) throw bad(text, str("no input has ", letter));
    if (std::count(letters.begin(), letters.end(), letter) > 1)
      throw bad(text, str("the output has ", letter, " twice"));
  }
  if (equation.output.open && !open) throw bad(text, "no input has \"...\"");
}

}  // namespace

Equation read_equation(const std::string& text) {
  std::string dense = text;
  std::erase(dense, ' ');
  const size_t arrow = dense.find("->");
  const std::string left = dense.substr(0, arrow);
  Equation out;
  for (size_t begin = 0; begin <= left.size();) {
    const size_t end = std::min(left.find(',', begin), left.size());
    out.inputs.push_back(read_term(text, std::string_view(left).substr(begin, end - begin)));
    begin = end + 1;
  }
  if (arrow == std::string::npos) {
    out.output = implied_output(out.inputs);
  } else {
    out.output = read_term(text, std::string_view(dense).substr(arrow + 2));
    check_output(text, out);
  }
  return out;
}

}  // namespace hewn::flow

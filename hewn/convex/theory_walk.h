#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hewn::convex {

/// A statement of the theory, tried on a small problem.
struct Statement {
  std::string name;
  std::string claim;
  bool holds = false;
  bool expected = true;  // false: known not to hold, which the problem shows
  std::vector<std::pair<std::string, double>> figures;
};

/// Lemmas and theorems one after the other, on problems that are the same every time: masks are really
/// trained, sets really enumerated.
std::vector<Statement> walk_theory();

}  // namespace hewn::convex

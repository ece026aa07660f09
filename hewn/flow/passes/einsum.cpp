#include "hewn/flow/passes/einsum.h"

#include <algorithm>
#include <optional>

#include "hewn/core/error.h"
#include "hewn/flow/op/product/equation.h"

namespace hewn::flow {
namespace {

/// left x right as matrices in the last two dimensions; letters of each, and of what comes out.
struct Matrices {
  std::string left;
  std::string right;
  std::string product;
  bool swapped = false;  // left is the second input
};

bool has(const std::string& letters, char letter) { return letters.find(letter) != std::string::npos; }

bool twice(const std::string& letters) {
  return std::any_of(letters.begin(), letters.end(),
                     [&](char letter) { return std::count(letters.begin(), letters.end(), letter) > 1; });
}

/// The letters of `all` that are, or are not, in both of the others.
std::string pick(const std::string& all, const std::string& a, bool in_a, const std::string& b, bool in_b) {
  std::string out;
  std::copy_if(all.begin(), all.end(), std::back_inserter(out),
               [&](char letter) { return has(a, letter) == in_a && has(b, letter) == in_b; });
  return out;
}

/// All rows but the last lie in front, where the matrices on the right are repeated for them.
Matrices stacked(const std::string& rows, const std::string& batch, const std::string& summed,
                 const std::string& column, bool swapped) {
  const std::string outer = rows.substr(0, rows.size() - 1) + batch;
  return {outer + rows.back() + summed, batch + summed + column, outer + rows.back() + column, swapped};
}

std::optional<Matrices> matrices_of(const Equation& equation) {
  if (equation.inputs.size() != 2 || equation.output.open) return {};
  for (const Equation::Term& term : equation.inputs) {
    if (term.open || twice(term.letters())) return {};
  }
  const std::string a = equation.inputs[0].letters();
  const std::string b = equation.inputs[1].letters();
  const std::string out = equation.output.letters();
  const std::string batch = pick(out, a, true, b, true);
  const std::string rows = pick(out, a, true, b, false);
  const std::string columns = pick(out, a, false, b, true);
  const std::string summed = pick(a, b, true, out, false);
  // Every letter is one of these: none is in one input alone and not in the output.
  if (summed.size() != 1 || batch.size() + rows.size() + 1 != a.size() ||
      batch.size() + columns.size() + 1 != b.size()) {
    return {};
  }
  if (columns.size() == 1 && !rows.empty()) return stacked(rows, batch, summed, columns, false);
  if (rows.size() == 1 && !columns.empty()) return stacked(columns, batch, summed, rows, true);
  return {};
}

class Speller {
 public:
  explicit Speller(Graph& graph) : graph_(graph) {}

  void run() {
    for (Node& node : graph_.nodes) {
      if (!spell(node)) nodes_.push_back(std::move(node));
    }
    graph_.nodes = std::move(nodes_);
  }

 private:
  bool spell(const Node& node) {
    if (node.op != "Einsum" || node.inputs.size() != 2 || node.outputs.size() != 1) return false;
    Equation equation;
    try {
      equation = read_equation(node.text("equation", ""));
    } catch (const Error&) {
      return false;  // the operator itself says what is wrong
    }
    const std::optional<Matrices> matrices = matrices_of(equation);
    if (!matrices) return false;
    const size_t first = matrices->swapped ? 1 : 0;
    const std::string out = equation.output.letters();
    Node product = node;
    product.op = "MatMul";
    product.attributes.clear();
    product.inputs = {
        turned(node, node.inputs[first], equation.inputs[first].letters(), matrices->left),
        turned(node, node.inputs[1 - first], equation.inputs[1 - first].letters(), matrices->right)};
    if (out != matrices->product) product.outputs = {graph_.add_value(graph_.name(node.outputs[0]))};
    nodes_.push_back(product);
    if (out != matrices->product)
      nodes_.push_back(transpose(node, product.outputs[0], node.outputs[0], matrices->product, out));
    return true;
  }

  /// The value with its dimensions in another order.
  int32_t turned(const Node& node, int32_t value, const std::string& from, const std::string& to) {
    if (from == to) return value;
    const int32_t out = graph_.add_value(graph_.name(value));
    nodes_.push_back(transpose(node, value, out, from, to));
    return out;
  }

  static Node transpose(const Node& node, int32_t in, int32_t out, const std::string& from,
                        const std::string& to) {
    std::vector<int64_t> order;
    for (const char letter : to) order.push_back(static_cast<int64_t>(from.find(letter)));
    Node made = node;
    made.op = "Transpose";
    made.inputs = {in};
    made.outputs = {out};
    made.attributes = {{"perm", order}};
    return made;
  }

  Graph& graph_;
  std::vector<Node> nodes_;
};

}  // namespace

void spell_einsums(Graph& graph) { Speller(graph).run(); }

}  // namespace hewn::flow

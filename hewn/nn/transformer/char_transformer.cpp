// A transformer that reads characters and says, at each of them, which one comes next.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "hewn/nn/describe.h"
#include "hewn/nn/parts.h"
#include "hewn/nn/transformer/block.h"

namespace hewn::nn {
namespace {

constexpr int64_t kCharHeads = 4;
constexpr int64_t kCharDepth = 2;

class CharTransformer final : public Model {
 public:
  CharTransformer(int64_t symbols, int64_t context, int64_t width, int64_t depth) {
    tok_embed_ = register_parameter("tok_embed", at::zeros({symbols, width}));
    pos_embed_ = register_parameter("pos_embed", at::zeros({1, context, width}));
    for (int64_t i = 0; i < depth; ++i)
      blocks_->push_back(TransformerBlock(width, kCharHeads, Sight::kEarlier));
    register_module("blocks", blocks_);
    norm_ = register_module("norm", transformer_norm(width));
    head_ = register_module("head", Linear(width, symbols));
    initialise_narrow(tok_embed_);
    initialise_narrow(pos_embed_);
    initialise_transformer(*this);
  }

  /// int64 N x characters, at most as many as the context, to N x characters x symbols.
  at::Tensor forward(const at::Tensor& input) override {
    // A product with ones and zeros instead of a look-up: its gradient is dense, and on a GPU the same bits
    // come out of every run. A few symbols cost little.
    const at::Tensor symbols = at::arange(tok_embed_.size(0), input.options());
    const at::Tensor chosen = (input.unsqueeze(2) == symbols).to(tok_embed_.scalar_type());
    const at::Tensor x = chosen.matmul(tok_embed_) + pos_embed_.narrow(1, 0, input.size(1));
    return head_(norm_(blocks_->forward(x)));
  }

  at::ScalarType input_type() const override { return at::kLong; }

  std::optional<flow::Graph> flow_graph() const override {
    using flow::Type;
    flow::Composer to;
    const int32_t characters = to.input("input", {Type::kInt, {-1, -1}});
    const int32_t shape = to.node("Shape", "shape", {characters});
    const int32_t length = to.node("Slice", "length", {shape, to.list({1}), to.list({2})});
    const int32_t table = to.constant("tok_embed", flow_tensor(tok_embed_));
    const int32_t all = to.constant("pos_embed", flow_tensor(pos_embed_));
    const int32_t positions = to.node("Slice", "positions", {all, to.list({0}), length, to.list({1})});
    int32_t x = to.node("Add", "tokens", {to.node("Gather", "symbols", {table, characters}), positions});
    const int32_t square = to.node("Concat", "square", {length, length}, {{"axis", int64_t{0}}});
    const int32_t mask = to.node("Slice", "mask", {to.constant("later", later()), to.list({0, 0}), square});
    for (size_t i = 0; i < blocks_->size(); ++i) {
      x = blocks_->ptr(i)->as<TransformerBlock>()->describe(to, str("blocks.", i), x, mask);
    }
    x = describe_linear(to, "head", describe_norm(to, "norm", x, *norm_), *head_);
    return to.finish(x, "output", {Type::kFloat, {-1, -1, head_->options.out_features()}});
  }

 private:
  /// What is added to the score of each character (row) for each that it might see.
  flow::Tensor later() const {
    const int64_t context = pos_embed_.size(1);
    flow::Tensor out(flow::Spec{flow::Type::kFloat, {context, context}});
    for (int64_t i = 0; i < context * context; ++i) {
      if (i % context > i / context) out.values<float>()[static_cast<size_t>(i)] = -INFINITY;
    }
    return out;
  }

  at::Tensor tok_embed_;
  at::Tensor pos_embed_;
  torch::nn::Sequential blocks_;
  torch::nn::LayerNorm norm_{nullptr};
  Linear head_{nullptr};
};

}  // namespace

std::shared_ptr<Model> make_char_transformer(const Signature& signature, const ModelOptions& options) {
  if (signature.takes != Takes::kText) throw Error("model char-transformer: expected text as input");
  return std::make_shared<CharTransformer>(signature.outputs, signature.input.at(0),
                                           kCharHeads * options.width, options.depth.value_or(kCharDepth));
}

}  // namespace hewn::nn

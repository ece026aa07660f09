// hewn::kept_product: a Linear or Conv2d layer on the kept blocks of its weight, as an operator. `values` are
// those of the kept blocks, `kept` their numbers in the grid; a window makes it a convolution.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <mutex>

#include "arguments.h"
#include "hewn/core/error.h"
#include "hewn/nn/sparse_conv.h"
#include "hewn/nn/sparse_linear.h"
#include "hewn/tensor/torch_compat.h"

namespace hewn::python {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Maybe = TorchOptional<at::Tensor>;
using Numbers = at::IntArrayRef;

Grid grid_from(Numbers g) {
  if (g.size() != 5) throw Error("kept_product: expected a grid of five numbers");
  return {g[0], g[1], {g[2], g[3]}, g[4]};
}

kernels::ConvGeometry window_from(Numbers w) {
  if (w.size() != 5) throw Error("kept_product: expected a window of five numbers");
  return {w[0], w[1], w[2], w[3], w[4]};
}

/// A layer with what it prepared for its pattern. Its buffers are its own, so one call at a time.
struct Prepared {
  std::mutex busy;
  std::shared_ptr<nn::SparseLayer> layer;
};

/// Prepared layers by the memory that holds their kept numbers, as long as that lives. Operators have no
/// memory of their own, and preparing takes longer than multiplying.
class Cache {
 public:
  std::shared_ptr<Prepared> find(const at::Tensor& kept, Numbers grid, Numbers window) {
    const std::scoped_lock lock(mutex_);
    const auto* key = kept.storage().unsafeGetStorageImpl();
    const uint32_t version = kept.is_inference() ? 0 : static_cast<uint32_t>(kept._version());
    const auto found = entries_.find(key);
    if (found != entries_.end() && !found->second.alive.expired() && found->second.version == version &&
        found->second.grid == grid && found->second.window == window) {
      return found->second.prepared;
    }
    std::erase_if(entries_, [](const auto& entry) { return entry.second.alive.expired(); });
    auto prepared = make(kept, grid, window);
    entries_.insert_or_assign(
        key, Entry{kept.storage().getWeakStorageImpl(), version, grid.vec(), window.vec(), prepared});
    return prepared;
  }

 private:
  struct Entry {
    c10::weak_intrusive_ptr<c10::StorageImpl> alive;
    uint32_t version;
    std::vector<int64_t> grid;
    std::vector<int64_t> window;
    std::shared_ptr<Prepared> prepared;
  };

  static std::shared_ptr<Prepared> make(const at::Tensor& kept, Numbers given, Numbers window) {
    const Grid grid = grid_from(given);
    const at::Tensor numbers = kept.contiguous();
    const auto* first = numbers.data_ptr<int64_t>();
    const std::vector<uint8_t> flags = LayerBlocks(grid, {first, first + numbers.numel()}).flags();
    const at::Tensor support = at::empty({grid.blocks()}, at::kByte);
    std::copy(flags.begin(), flags.end(), support.data_ptr<uint8_t>());
    // Of the leaf only its kind is used: values come with every call.
    const auto weight = std::make_shared<prune::SparseWeight>(at::empty({0}), WeightLayout{grid, 1}, support);
    auto prepared = std::make_shared<Prepared>();
    if (window.empty()) {
      prepared->layer = std::make_shared<nn::SparseLinear>(weight);
    } else {
      prepared->layer = std::make_shared<nn::SparseConv>(weight, window_from(window));
    }
    return prepared;
  }

  std::mutex mutex_;
  std::map<const void*, Entry> entries_;
};

Cache& cache() {
  static Cache one;
  return one;
}

/// x in an order that the kernels take, and for a linear layer as a matrix.
at::Tensor in_order(const at::Tensor& x, Numbers grid, Numbers window) {
  if (window.empty()) {
    if (x.dim() < 1 || x.size(-1) != grid[0]) {
      throw Error(hewn::str("linear layer: expected samples of ", grid[0], " features, got ", x.sizes()));
    }
    return x.reshape({-1, grid[0]}).contiguous();
  }
  const int64_t channels = grid[0] / (window[0] * window[1]);
  if (x.dim() != 4 || x.size(1) != channels) {
    throw Error(hewn::str("convolution: expected images of ", channels, " channels, got ", x.sizes()));
  }
  return nn::is_channels_last(x) ? x : x.contiguous();
}

std::vector<int64_t> out_shape(const at::Tensor& x, Numbers grid, Numbers window) {
  std::vector<int64_t> shape = x.sizes().vec();
  if (window.empty()) {
    shape.back() = grid[1];
    return shape;
  }
  const kernels::ConvGeometry g = window_from(window);
  return {shape[0], grid[1], g.out_size(shape[2], g.kernel_height), g.out_size(shape[3], g.kernel_width)};
}

at::Tensor product(const at::Tensor& x, const at::Tensor& values, const Maybe& bias, const at::Tensor& kept,
                   Numbers grid, Numbers window) {
  const auto prepared = cache().find(kept, grid, window);
  const at::Tensor input = in_order(x, grid, window);
  const std::scoped_lock lock(prepared->busy);
  const at::Tensor out = prepared->layer->product(input, values.contiguous(), bias.value_or(at::Tensor()));
  return window.empty() ? out.view(out_shape(x, grid, window)) : out;
}

/// Gradients of x and values.
std::tuple<at::Tensor, at::Tensor> product_backward(const at::Tensor& grad, const at::Tensor& x,
                                                    const at::Tensor& values, const at::Tensor& kept,
                                                    Numbers grid, Numbers window) {
  const auto prepared = cache().find(kept, grid, window);
  const at::Tensor input = in_order(x, grid, window);
  const at::Tensor dy = window.empty()
                            ? grad.reshape({-1, grid[1]}).contiguous()
                            : grad.contiguous(nn::is_channels_last(input) ? at::MemoryFormat::ChannelsLast
                                                                          : at::MemoryFormat::Contiguous);
  const std::scoped_lock lock(prepared->busy);
  const at::Tensor dx = prepared->layer->grad_input(input, dy, values.contiguous());
  return {window.empty() ? dx.view(x.sizes()) : dx,
          prepared->layer->grad_weight(input, dy).view(values.sizes())};
}

at::Tensor product_meta(const at::Tensor& x, const at::Tensor&, const Maybe&, const at::Tensor&, Numbers grid,
                        Numbers window) {
  return at::empty(out_shape(x, grid, window), x.options());
}

std::tuple<at::Tensor, at::Tensor> product_backward_meta(const at::Tensor&, const at::Tensor& x,
                                                         const at::Tensor& values, const at::Tensor&, Numbers,
                                                         Numbers) {
  return {at::empty(x.sizes(), x.options()), at::empty(values.sizes(), values.options())};
}

template <class Function>
auto operator_named(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Function>();
}

struct Product : torch::autograd::Function<Product> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& values,
                            const Maybe& bias, const at::Tensor& kept, const std::vector<int64_t>& grid,
                            const std::vector<int64_t>& window) {
    static const auto op = operator_named<decltype(product)>("hewn::kept_product");
    const at::AutoDispatchBelowADInplaceOrView below;
    context->saved_data["grid"] = grid;
    context->saved_data["window"] = window;
    context->saved_data["has_bias"] = bias.has_value();
    context->save_for_backward({x, values, kept});
    return op.call(x, values, bias, kept, grid, window);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    static const auto op = operator_named<decltype(product_backward)>("hewn::kept_product_backward");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& dy = grads[0];
    const auto window = context->saved_data["window"].toIntVector();
    const auto [dx, dvalues] =
        op.call(dy, saved[0], saved[1], saved[2], context->saved_data["grid"].toIntVector(), window);
    at::Tensor dbias;
    if (context->saved_data["has_bias"].toBool()) {
      dbias = window.empty() ? dy.reshape({-1, dy.size(-1)}).sum(0) : dy.sum({0, 2, 3});
    }
    const at::Tensor none;
    return {dx, dvalues, dbias, none, none, none};
  }
};

at::Tensor product_autograd(const at::Tensor& x, const at::Tensor& values, const Maybe& bias,
                            const at::Tensor& kept, Numbers grid, Numbers window) {
  return Product::apply(x, values, bias, kept, grid.vec(), window.vec());
}

}  // namespace
}  // namespace hewn::python

TORCH_LIBRARY_FRAGMENT(hewn, m) {
  m.def(
      "kept_product(Tensor x, Tensor values, Tensor? bias, Tensor kept, int[] grid, int[] window) -> Tensor");
  m.def(
      "kept_product_backward(Tensor grad, Tensor x, Tensor values, Tensor kept, int[] grid, int[] window) -> "
      "(Tensor, "
      "Tensor)");
}
TORCH_LIBRARY_IMPL(hewn, CPU, m) {
  m.impl("kept_product", hewn::python::product);
  m.impl("kept_product_backward", hewn::python::product_backward);
}
TORCH_LIBRARY_IMPL(hewn, Meta, m) {
  m.impl("kept_product", hewn::python::product_meta);
  m.impl("kept_product_backward", hewn::python::product_backward_meta);
}
TORCH_LIBRARY_IMPL(hewn, Autograd, m) { m.impl("kept_product", hewn::python::product_autograd); }

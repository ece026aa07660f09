#include "hewn/nn/embedding.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

#include "hewn/core/error.h"
#include "hewn/kernels/cuda/cuda.h"
#include "hewn/kernels/embedding.h"
#include "hewn/nn/parts.h"
#include "hewn/tensor/memory.h"
#include "hewn/tensor/stream.h"

namespace hewn::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// `first` is read on the host: the CPU kernels' view of a table.
kernels::Tables tables_of(const at::Tensor& first, int64_t width) {
  return {first.numel() - 1, width, first.data_ptr<int64_t>()};
}

at::Tensor look_up(const at::Tensor& weight, const at::Tensor& values, const at::Tensor& first) {
  const int64_t samples = values.size(0);
  const int64_t fields = values.size(1);
  const int64_t width = weight.size(1);
  at::Tensor out = at::empty({samples, fields * width}, weight.options());
  if (weight.is_cuda()) {
    kernels::cuda::embed(fields, width, first.data_ptr<int64_t>(), weight.data_ptr<float>(),
                         values.data_ptr<int32_t>(), samples, out.data_ptr<float>(),
                         tensor::current_stream(weight));
    return out;
  }
  std::atomic<bool> known = true;
  const int64_t grain = std::max<int64_t>(1, tensor::kGrain / (fields * width));
  at::parallel_for(0, samples, grain, [&](int64_t begin, int64_t end) {
    if (!kernels::embed(tables_of(first, width), weight.data_ptr<float>(), values.data_ptr<int32_t>(), begin,
                        end, out.data_ptr<float>())) {
      known = false;
    }
  });
  if (!known) throw Error("embedding: the batch holds a value outside its field's vocabulary");
  return out;
}

/// The rows that a batch touched, each once, with the sum of its gradients.
at::Tensor gradient_on_cpu(const at::Tensor& grad, const at::Tensor& values, const at::Tensor& first,
                           const at::Tensor& slots, int64_t width) {
  const int64_t samples = values.size(0);
  const int64_t fields = values.size(1);
  const kernels::Tables tables = tables_of(first, width);
  const at::Tensor number = at::empty_like(values);
  const at::Tensor rows = at::empty({fields, samples}, at::kLong);
  std::vector<int64_t> counts(static_cast<size_t>(fields));
  at::parallel_for(0, fields, 1, [&](int64_t begin, int64_t end) {
    kernels::number_rows(tables, values.data_ptr<int32_t>(), samples, slots.data_ptr<int32_t>(),
                         number.data_ptr<int32_t>(), rows.data_ptr<int64_t>(), counts.data(), begin, end);
  });
  std::vector<int64_t> start(static_cast<size_t>(fields) + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), start.begin() + 1);
  const at::Tensor touched = at::empty({1, start.back()}, at::kLong);
  const at::Tensor sums = at::zeros({start.back(), width}, grad.options());
  at::parallel_for(0, fields, 1, [&](int64_t begin, int64_t end) {
    for (int64_t f = begin; f < end; ++f) {
      std::copy_n(rows.data_ptr<int64_t>() + f * samples, counts[static_cast<size_t>(f)],
                  touched.data_ptr<int64_t>() + start[static_cast<size_t>(f)]);
    }
    kernels::sum_rows(tables, number.data_ptr<int32_t>(), samples, grad.data_ptr<float>(), start.data(),
                      sums.data_ptr<float>(), begin, end);
  });
  return at::_sparse_coo_tensor_unsafe(touched, sums, {tables.first[fields], width});
}

/// The same with every touched row as often as it occurs, sorted; all but the first carry zeros. Its shape
/// does not depend on the data, so the host need not wait.
at::Tensor gradient_on_cuda(const at::Tensor& grad, const at::Tensor& values, const at::Tensor& first,
                            int64_t table_rows, int64_t width) {
  const int64_t fields = values.size(1);
  const at::Tensor flat = (values + first.narrow(0, 0, fields)).to(at::kInt).flatten();
  const auto [rows, order] = flat.sort(/*stable=*/true, 0, /*descending=*/false);
  const at::Tensor sums = at::empty({flat.numel(), width}, grad.options());
  kernels::cuda::sum_sorted_rows(rows.data_ptr<int32_t>(), order.data_ptr<int64_t>(), flat.numel(), width,
                                 grad.data_ptr<float>(), sums.data_ptr<float>(),
                                 tensor::current_stream(grad));
  return at::_sparse_coo_tensor_unsafe(rows.to(at::kLong).unsqueeze(0), sums, {table_rows, width});
}

at::Tensor clean_slots(int64_t rows) {
  at::Tensor slots = at::empty({rows}, at::kInt);
  tensor::prefer_large_pages(slots);
  return slots.fill_(-1);
}

struct LookUp : torch::autograd::Function<LookUp> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& weight, const at::Tensor& values,
                            const at::Tensor& first, const at::Tensor& slots) {
    context->save_for_backward({values, first, slots});
    context->saved_data["rows"] = weight.size(0);
    context->saved_data["width"] = weight.size(1);
    return look_up(weight, values, first);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    const int64_t rows = context->saved_data["rows"].toInt();
    const int64_t width = context->saved_data["width"].toInt();
    const at::Tensor grad = grads[0].contiguous();
    const at::Tensor out = grad.is_cuda() ? gradient_on_cuda(grad, saved[0], saved[1], rows, width)
                                          : gradient_on_cpu(grad, saved[0], saved[1], saved[2], width);
    return {out, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

EmbeddingTableImpl::EmbeddingTableImpl(std::vector<int64_t> vocabularies, int64_t width, double deviation)
    : vocabularies_(std::move(vocabularies)), width_(width) {
  if (width < 1) throw Error(hewn::str("embedding: expected a width of at least 1, got ", width));
  std::vector<int64_t> first(vocabularies_.size() + 1, 0);
  std::partial_sum(vocabularies_.begin(), vocabularies_.end(), first.begin() + 1);
  if (first.back() > std::numeric_limits<int32_t>::max()) {
    throw Error(hewn::str("embedding: ", first.back(), " values in all fields together, more than 2^31 - 1; ",
                          "use a larger min-count or a smaller hash-size"));
  }
  check_weights_fit("embedding", static_cast<double>(first.back()) * static_cast<double>(width));
  first_ = at::tensor(first);
  const at::Tensor rows = at::empty({first.back(), width});
  tensor::prefer_large_pages(rows);
  weight = register_parameter("weight", rows.normal_(0, deviation));
}

at::Tensor EmbeddingTableImpl::forward(const at::Tensor& values) {
  if (values.dim() != 2 || values.size(1) != fields() || values.scalar_type() != at::kInt) {
    throw Error(hewn::str("embedding: expected int32 samples x ", fields(), " fields, got ", values.sizes()));
  }
  if (first_.device() != weight.device()) first_ = first_.to(weight.device());
  const int64_t needed = weight.is_cuda() ? 0 : weight.size(0);
  if (!slots_.defined() || slots_.numel() != needed) slots_ = clean_slots(needed);
  return LookUp::apply(weight, values.contiguous(), first_, slots_);
}

}  // namespace hewn::nn

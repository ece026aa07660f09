#include <vector>

#include "hewn/flow/op/numbers.h"
#include "hewn/flow/op/product/multiply.h"
#include "hewn/flow/op/runs.h"

namespace hewn::flow {
namespace {

std::vector<Spec> infer_gemm(const Call& call) {
  call.expect_number(0);
  call.expect(1, call.type(0));
  if (call.rank(0) != 2 || call.rank(1) != 2) throw call.bad("expected two matrices");
  const size_t a_rows = call.node->integer("transA", 0) != 0 ? 1 : 0;
  const size_t b_rows = call.node->integer("transB", 0) != 0 ? 1 : 0;
  if (call.dims(0)[1 - a_rows] != call.dims(1)[b_rows]) {
    throw call.bad(str(to_string(call.dims(0)), " and ", to_string(call.dims(1)), " cannot be multiplied"));
  }
  const Dims dims = {call.dims(0)[a_rows], call.dims(1)[1 - b_rows]};
  if (call.has(2)) {
    call.expect(2, call.type(0));
    if (broadcast(call, call.dims(2), dims) != dims)
      throw call.bad("what is added is larger than the product");
  }
  return {{call.type(0), dims}};
}

template <class T>
void gemm_of(const Call& call) {
  using Sum = Wrapping<T>;
  const auto factor = [&](const char* name) {
    const float value = call.node->number(name, 1);
    if constexpr (std::is_same_v<T, float>) return value;
    return static_cast<Sum>(to_integer(value));
  };
  auto* out = reinterpret_cast<Sum*>(call.result<T>(0).data());
  const Dims& dims = call.out[0].spec.dims;
  const int64_t total = count(dims);
  if (total == 0) return;
  const Sum beta = factor("beta");
  if (call.has(2)) {
    copy(call.type(0), dims, {call.at(2).data, strides_in(call.dims(2), dims)}, {out, strides_of(dims)});
    for (int64_t i = 0; i < total; ++i) out[i] *= beta;
  } else {
    std::fill(out, out + total, Sum{});
  }
  const bool a_turned = call.node->integer("transA", 0) != 0;
  const int64_t k = call.dims(0)[a_turned ? 0 : 1];
  const auto* b = reinterpret_cast<const Sum*>(call.values<T>(1).data());
  std::vector<Sum> turned;
  if (call.node->integer("transB", 0) != 0) {
    turned.resize(static_cast<size_t>(k * dims[1]));
    copy(call.type(0), {k, dims[1]}, {call.at(1).data, {1, k}}, {turned.data(), {dims[1], 1}});
    b = turned.data();
  }
  multiply(Product<Sum>{.m = dims[0],
                        .n = dims[1],
                        .k = k,
                        .a = reinterpret_cast<const Sum*>(call.values<T>(0).data()),
                        .a_row = a_turned ? 1 : k,
                        .a_column = a_turned ? dims[0] : 1,
                        .b = b,
                        .alpha = factor("alpha")},
           out);
}

void run_gemm(const Call& call) {
  call.type(0) == Type::kFloat ? gemm_of<float>(call) : gemm_of<int64_t>(call);
}

}  // namespace

constinit const Operator op::kGemm = {
    .name = "Gemm", .least_inputs = 2, .most_inputs = 3, .infer = infer_gemm, .run = run_gemm};

}  // namespace hewn::flow

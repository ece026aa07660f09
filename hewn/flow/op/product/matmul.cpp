#include <algorithm>

#include "hewn/flow/op/numbers.h"
#include "hewn/flow/op/product/multiply.h"
#include "hewn/flow/op/runs.h"

namespace hewn::flow {
namespace {

/// Matrices in the last two dimensions of both; what is before them is stretched.
struct Batches {
  Dims a;
  Dims b;
  Dims batch;  // of the output
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
};

Batches batches_of(const Call& call) {
  Batches out = {call.dims(0), call.dims(1), {}};
  if (out.a.empty() || out.b.empty()) throw call.bad("cannot multiply a single number");
  if (out.a.size() == 1) out.a.insert(out.a.begin(), 1);
  if (out.b.size() == 1) out.b.push_back(1);
  out.k = out.a.back();
  out.n = out.b.back();
  out.a.pop_back();
  out.b.pop_back();
  out.m = out.a.back();
  if (out.b.back() != out.k) {
    throw call.bad(str(to_string(call.dims(0)), " and ", to_string(call.dims(1)), " cannot be multiplied"));
  }
  out.a.pop_back();
  out.b.pop_back();
  out.batch = broadcast(call, out.a, out.b);
  return out;
}

std::vector<Spec> infer_matmul(const Call& call) {
  call.expect_number(0);
  call.expect(1, call.type(0));
  const Batches shape = batches_of(call);
  Spec out = {call.type(0), shape.batch};
  // A vector has no dimension of its own in the output.
  if (call.rank(0) > 1) out.dims.push_back(shape.m);
  if (call.rank(1) > 1) out.dims.push_back(shape.n);
  return {out};
}

template <class T>
void matmul_of(const Call& call) {
  using Sum = Wrapping<T>;
  const Batches shape = batches_of(call);
  const auto* a = reinterpret_cast<const Sum*>(call.values<T>(0).data());
  const auto* b = reinterpret_cast<const Sum*>(call.values<T>(1).data());
  const auto result = call.result<T>(0);
  if (result.empty()) return;
  std::ranges::fill(result, T{});
  auto* out = reinterpret_cast<Sum*>(result.data());
  each_index<2>(shape.batch, {strides_in(shape.a, shape.batch), strides_in(shape.b, shape.batch)},
                [&](int64_t i, const auto& offset) {
                  multiply(Product<Sum>{.m = shape.m,
                                        .n = shape.n,
                                        .k = shape.k,
                                        .a = a + offset[0] * shape.m * shape.k,
                                        .a_row = shape.k,
                                        .a_column = 1,
                                        .b = b + offset[1] * shape.k * shape.n},
                           out + i * shape.m * shape.n);
                });
}

void run_matmul(const Call& call) {
  call.type(0) == Type::kFloat ? matmul_of<float>(call) : matmul_of<int64_t>(call);
}

}  // namespace

constinit const Operator op::kMatMul = {
    .name = "MatMul", .least_inputs = 2, .most_inputs = 2, .infer = infer_matmul, .run = run_matmul};

}  // namespace hewn::flow

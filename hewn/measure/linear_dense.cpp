#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mkldnn_linear.h>
#include <ATen/ops/mkldnn_linear_backward_input.h>
#include <ATen/ops/mkldnn_linear_backward_weights.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mv.h>

#include "hewn/measure/linear.h"
#include "hewn/measure/prepared.h"

namespace hewn::measure {
namespace {

/// a b, written where the result of the last call was.
Contender mm_way(const std::string& name, const at::Tensor& a, const at::Tensor& b) {
  return {name, [a, b, out = at::empty({a.size(0), b.size(1)})] {
            at::Tensor to = out;
            at::mm_out(to, a, b);
          }};
}

Contender mv_way(const std::string& name, const at::Tensor& matrix, const at::Tensor& vector) {
  return {name, [matrix, vector, out = at::empty({matrix.size(0)})] {
            at::Tensor to = out;
            at::mv_out(to, matrix, vector);
          }};
}

std::vector<Contender> forward(const at::Tensor& x, const at::Tensor& w) {
  const at::Tensor w_t = w.t().contiguous();
  const at::Tensor x_t = x.t().contiguous();
  std::vector<Contender> out = {
      {"at::linear", [=] { at::linear(x, w); }},
      mm_way("at::mm, weight transposed before", x, w_t),
      mm_way("at::mm, batch innermost", w, x_t),
      {"oneDNN linear",
       [x_one = one_dnn_plain(x), w_one = one_dnn_plain(w)] { at::mkldnn_linear(x_one(), w_one()); }},
  };
  // oneDNN's inner product reads plain weights in this LibTorch. Its 1x1 convolution takes weights in the
  // order it wants; samples are the pixels of one image.
  const Prepared image = one_dnn_images(x_t.view({1, x.size(1), x.size(0), 1}));
  const Prepared filter = one_dnn_filter(w.view({w.size(0), w.size(1), 1, 1}), 1, 0, 1);
  out.push_back({"oneDNN 1x1 convolution, blocked", [=] { at::conv2d(image(), filter()); }});
  if (x.size(0) != 1) return out;
  out.push_back(mv_way("at::mv", w, x.view(-1)));
  out.push_back(mv_way("at::mv, weight transposed before", w_t.t(), x.view(-1)));
  return out;
}

std::vector<Contender> grad_input(const at::Tensor& dy, const at::Tensor& w) {
  return {
      mm_way("at::mm", dy, w),
      mm_way("at::mm, weight transposed before", dy, w.t().contiguous().t()),
      {"oneDNN linear", [dy_one = one_dnn_plain(dy), w, sizes = std::vector<int64_t>{dy.size(0), w.size(1)}] {
         at::mkldnn_linear_backward_input(sizes, dy_one(), w);
       }}};
}

std::vector<Contender> grad_weight(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& w) {
  return {mm_way("at::mm", dy.t(), x),
          mm_way("at::mm, gradient transposed", x.t(), dy),
          {"oneDNN linear", [dy_one = one_dnn_plain(dy), x_one = one_dnn_plain(x), w_one = one_dnn_plain(w)] {
             at::mkldnn_linear_backward_weights(dy_one(), x_one(), w_one(), false);
           }}};
}

}  // namespace

std::vector<Contender> Linear::dense(Product product) const {
  switch (product) {
    case Product::kForward:
      return forward(x_, weight_);
    case Product::kGradInput:
      return grad_input(dy_, weight_);
    default:
      return grad_weight(dy_, x_, weight_);
  }
}

}  // namespace hewn::measure

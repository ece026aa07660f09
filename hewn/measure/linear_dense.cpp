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

std::vector<Contender> forward(const at::Tensor& x, const at::Tensor& w) {
  const at::Tensor w_t = w.t().contiguous();
  const at::Tensor x_t = x.t().contiguous();
  const at::Tensor y = at::empty({x.size(0), w.size(0)});
  const at::Tensor y_t = at::empty({w.size(0), x.size(0)});
  std::vector<Contender> out = {
      {"at::linear", [=] { at::linear(x, w); }},
      {"at::mm, weight transposed before",
       [=] {
         at::Tensor to = y;
         at::mm_out(to, x, w_t);
       }},
      {"at::mm, batch innermost",
       [=] {
         at::Tensor to = y_t;
         at::mm_out(to, w, x_t);
       }},
      {"oneDNN linear",
       [x_one = one_dnn_plain(x), w_one = one_dnn_plain(w)] { at::mkldnn_linear(x_one(), w_one()); }},
  };
  // oneDNN's inner product reads plain weights in this LibTorch. Its 1x1 convolution takes weights in the
  // order it wants; samples are the pixels of one image.
  const Prepared image = one_dnn_images(x_t.view({1, x.size(1), x.size(0), 1}));
  const Prepared filter = one_dnn_filter(w.view({w.size(0), w.size(1), 1, 1}), 1, 0, 1);
  out.push_back({"oneDNN 1x1 convolution, blocked", [=] { at::conv2d(image(), filter()); }});
  if (x.size(0) != 1) return out;
  const at::Tensor vector = x.view(-1);
  const at::Tensor result = at::empty({w.size(0)});
  out.push_back({"at::mv", [=] {
                   at::Tensor to = result;
                   at::mv_out(to, w, vector);
                 }});
  out.push_back({"at::mv, weight transposed before", [=] {
                   at::Tensor to = result;
                   at::mv_out(to, w_t.t(), vector);
                 }});
  return out;
}

std::vector<Contender> grad_input(const at::Tensor& dy, const at::Tensor& w) {
  const at::Tensor w_t = w.t().contiguous();
  const at::Tensor dx = at::empty({dy.size(0), w.size(1)});
  return {{"at::mm",
           [=] {
             at::Tensor to = dx;
             at::mm_out(to, dy, w);
           }},
          {"at::mm, weight transposed before",
           [=] {
             at::Tensor to = dx;
             at::mm_out(to, dy, w_t.t());
           }},
          {"oneDNN linear", [dy_one = one_dnn_plain(dy), w, sizes = dx.sizes().vec()] {
             at::mkldnn_linear_backward_input(sizes, dy_one(), w);
           }}};
}

std::vector<Contender> grad_weight(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& w) {
  const at::Tensor dw = at::empty({dy.size(1), x.size(1)});
  const at::Tensor dw_t = at::empty({x.size(1), dy.size(1)});
  return {{"at::mm",
           [=] {
             at::Tensor to = dw;
             at::mm_out(to, dy.t(), x);
           }},
          {"at::mm, gradient transposed",
           [=] {
             at::Tensor to = dw_t;
             at::mm_out(to, x.t(), dy);
           }},
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

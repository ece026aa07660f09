#include "cli/torch/bench.h"
#include "hewn/core/options.h"
#include "hewn/kernels/tile.h"
#include "hewn/measure/compare.h"
#include "hewn/measure/conv.h"
#include "hewn/measure/linear.h"
#include "hewn/tensor/device.h"

namespace hewn::cli {
namespace {

Json measure_layer(const measure::Layer& layer, const measure::Point& point, int64_t threads,
                   const BenchFields& fields) {
  using measure::Product;
  const int64_t used = tensor::set_threads(threads);
  const auto compare = [&](Product product) {
    return measure::to_json(measure::compare(layer, product, point, fields.rounds));
  };
  Json out = {{"block", to_string(point.block)},
              {"sparsity", point.sparsity},
              {"threads", used},
              {"clock", measure::to_string(measure::clock_for(used))},
              {"instructions", kernels::machine().name}};
  out.update(compare(Product::kForward));
  if (fields.gradients) {
    out["grad_input"] = compare(Product::kGradInput);
    out["grad_weight"] = compare(Product::kGradWeight);
  }
  if (fields.break_even) {
    const auto [sparsity, withheld] = measure::break_even(layer, point.block, fields.rounds);
    if (withheld.empty()) {
      out["break_even_sparsity"] = sparsity ? Json(*sparsity) : Json(nullptr);
    } else {
      out["break_even_withheld"] = withheld;
    }
  }
  return out;
}

/// The part that Linear and Conv2d layers share: the shape is checked, the layer made when the job runs.
template <class L, class Shape>
Job layer_job(const Values& values, const BenchFields& fields, const Shape& shape, const Grid& grid,
              const Json& head) {
  measure::check_shape(shape);
  measure::Point point{parse_block(values.at("block")), 0};
  parse_value("sparsity", values.at("sparsity"), point.sparsity);
  measure::check_point(grid, point);
  const int64_t threads = thread_count(values);
  return [=] {
    Json out = head;
    out.update(measure_layer(L(shape, static_cast<uint64_t>(fields.seed)), point, threads, fields));
    return out;
  };
}

Job linear_job(const Values& values, const BenchFields& fields) {
  const measure::LinearShape shape{number(values, "batch"), number(values, "in"), number(values, "out")};
  return layer_job<measure::Linear>(
      values, fields, shape, {shape.in, shape.out, {}},
      {{"kind", "linear"}, {"batch", shape.batch}, {"in", shape.in}, {"out", shape.out}});
}

Job conv_job(const Values& values, const BenchFields& fields) {
  const int64_t size = number(values, "size");
  const int64_t kernel = number(values, "kernel");
  const measure::Conv2dShape shape{number(values, "batch"),
                                   number(values, "in"),
                                   number(values, "out"),
                                   size,
                                   size,
                                   {kernel, kernel, number(values, "stride"), number(values, "padding"), 1}};
  return layer_job<measure::Conv2d>(values, fields, shape, {shape.in * shape.geometry.taps(), shape.out, {}},
                                    {{"kind", "conv"},
                                     {"batch", shape.batch},
                                     {"in", shape.in},
                                     {"out", shape.out},
                                     {"size", size},
                                     {"kernel", kernel},
                                     {"stride", shape.geometry.stride},
                                     {"padding", shape.geometry.padding}});
}

}  // namespace

std::vector<KindJobs> layer_kinds() {
  return {{"linear", linear_job, {"batch", "in", "out"}},
          {"conv", conv_job, {"batch", "in", "out", "size", "kernel", "stride"}}};
}

}  // namespace hewn::cli

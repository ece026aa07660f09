#include "hewn/kernels/reference/planes.h"

#include "hewn/kernels/reference/tile.h"
#include "hewn/kernels/reference/vector_math.h"

namespace hewn::kernels::reference {

void multiply_planes(const PlaneProduct& product, int64_t first, int64_t last, int64_t begin, int64_t end) {
  for (int64_t number = begin; number < end; ++number) {
    const Packed::Tile& part = product.weight->tiles()[static_cast<size_t>(number)];
    const int32_t run = product.runs->first[static_cast<size_t>(number)];
    TileArguments t;
    t.runs = product.runs->runs.data() + run;
    t.run_count = product.runs->first[static_cast<size_t>(number) + 1] - run;
    t.weight = product.weight->values(part) + product.runs->skipped[static_cast<size_t>(number)];
    t.weight_stride = t.outputs = part.outputs;
    t.run_unit = 1;
    t.in_stride = product.in_stride;
    t.out_stride = product.out_stride;
    t.in = product.in + first;
    t.out = product.out + part.output * product.out_stride + first;
    t.columns = last - first;
    if (!part.accumulate && product.bias != nullptr) t.bias = product.bias + part.output;
    const bool over = product.add != nullptr && product.add == product.out;
    if (part.last && product.add != nullptr && !over)
      t.add = product.add + part.output * product.out_stride + first;
    t.accumulate = part.accumulate || over;
    t.relu = product.relu && part.last;
    reference::tile(t);
    if (!product.then.on || !part.last) continue;
    for (int64_t j = 0; j < t.outputs; ++j) {
      float* row = t.out + j * t.out_stride;
      reference::apply(product.then.function, product.then.a, product.then.b, row, row, t.columns);
    }
  }
}

}  // namespace hewn::kernels::reference

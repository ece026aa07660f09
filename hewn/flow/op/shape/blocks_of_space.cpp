// DepthToSpace and SpaceToDepth: images of [n, c, h, w] with blocks of pixels as channels, and back.
#include "hewn/flow/op/runs.h"

namespace hewn::flow {
namespace {

int64_t blocksize_of(const Call& call) {
  const int64_t size = call.node->integer("blocksize", 0);
  if (size < 1 || size > kMostElements) throw call.bad("blocksize is not a size");
  if (call.rank(0) != 4) throw call.bad("expected four dimensions");
  return size;
}

std::vector<Spec> infer_depth_to_space(const Call& call) {
  const int64_t size = blocksize_of(call);
  const std::string mode = call.node->text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") throw call.bad("mode is neither DCR nor CRD");
  const Dims& in = call.dims(0);
  if (in[1] == 0 || in[1] % size != 0 || in[1] / size % size != 0)
    throw call.bad("the channels are not whole blocks");
  return {{call.type(0), {in[0], in[1] / size / size, in[2] * size, in[3] * size}}};
}

void run_depth_to_space(const Call& call) {
  const int64_t size = blocksize_of(call);
  const bool blocks_first = call.node->text("mode", "DCR") == "DCR";
  const Dims& out = call.out[0].spec.dims;
  const int64_t image = call.dims(0)[2] * call.dims(0)[3];
  const int64_t channel = blocks_first ? image : image * size * size;
  const int64_t across = blocks_first ? image * out[1] : image;
  // The output as [n, c, h, row in block, w, column in block].
  const Dims dims = {out[0], out[1], call.dims(0)[2], size, call.dims(0)[3], size};
  const std::vector<int64_t> strides = {image * call.dims(0)[1], channel, call.dims(0)[3],
                                        across * size,           1,       across};
  copy(call.type(0), dims, {call.at(0).data, strides}, {call.out[0].data, strides_of(dims)});
}

std::vector<Spec> infer_space_to_depth(const Call& call) {
  const int64_t size = blocksize_of(call);
  const Dims& in = call.dims(0);
  if (in[2] % size != 0 || in[3] % size != 0) throw call.bad("the image is not whole blocks");
  const int64_t height = in[2] / size;
  const int64_t width = in[3] / size;
  if (height * width == 0) throw call.bad("the image is empty");
  return {{call.type(0), {in[0], in[1] * size * size, height, width}}};
}

void run_space_to_depth(const Call& call) {
  const int64_t size = blocksize_of(call);
  const Dims& in = call.dims(0);
  const int64_t image = in[2] * in[3];
  // The output as [n, row in block, column in block, c, h, w].
  const Dims dims = {in[0], size, size, in[1], in[2] / size, in[3] / size};
  const std::vector<int64_t> strides = {image * in[1], in[3], 1, image, in[3] * size, size};
  copy(call.type(0), dims, {call.at(0).data, strides}, {call.out[0].data, strides_of(dims)});
}

}  // namespace

constinit const Operator op::kDepthToSpace = {
    .name = "DepthToSpace", .infer = infer_depth_to_space, .run = run_depth_to_space};
constinit const Operator op::kSpaceToDepth = {
    .name = "SpaceToDepth", .infer = infer_space_to_depth, .run = run_space_to_depth};

}  // namespace hewn::flow

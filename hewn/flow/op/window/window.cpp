#include "hewn/flow/op/window/window.h"

#include <algorithm>

namespace hewn::flow {
namespace {

int64_t divide_up(int64_t a, int64_t b) { return a > 0 ? (a - 1) / b + 1 : 0; }

/// An attribute with a number for each dimension, or for each end of them.
std::vector<int64_t> sizes_of(const Call& call, const char* name, size_t size, int64_t least) {
  std::vector<int64_t> out = call.node->integers(name, std::vector<int64_t>(size, least));
  if (out.size() != size) throw call.bad(str(name, " has ", out.size(), " numbers, expected ", size));
  for (const int64_t one : out) {
    if (one < least || one > kMostElements) throw call.bad(str(name, " has a ", one));
  }
  return out;
}

/// How many outputs there are, and with auto_pad how much padding.
void place(const Call& call, const std::string& auto_pad, Slide& slide) {
  const int64_t extent = (slide.kernel - 1) * slide.dilation + 1;
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    slide.out = divide_up(slide.in, slide.stride);
    const int64_t padding = std::max<int64_t>((slide.out - 1) * slide.stride + extent - slide.in, 0);
    slide.before = auto_pad == "SAME_UPPER" ? padding / 2 : padding - padding / 2;
    slide.after = padding - slide.before;
    return;
  }
  if (auto_pad == "VALID") slide.before = slide.after = 0;
  const int64_t room = slide.in + slide.before + slide.after - extent;
  if (room < 0) throw call.bad(str("a window of ", extent, " does not fit into ", slide.in));
  const bool up = call.node->integer("ceil_mode", 0) != 0;
  slide.out = (up ? divide_up(room, slide.stride) : room / slide.stride) + 1;
  // A window must not begin behind the image.
  if (up && (slide.out - 1) * slide.stride >= slide.in + slide.before) --slide.out;
}

}  // namespace

int64_t Slide::first_tap(int64_t output) const {
  return std::min(divide_up(-start(output), dilation), kernel);
}

int64_t Slide::last_tap(int64_t output) const {
  return std::min(divide_up(in - start(output), dilation), kernel);
}

int64_t Slide::first_output(int64_t tap) const {
  return std::min(divide_up(before - tap * dilation, stride), out);
}

int64_t Slide::last_output(int64_t tap) const {
  return std::min(divide_up(in + before - tap * dilation, stride), out);
}

std::vector<int64_t> kernel_shape(const Call& call) {
  if (!call.node->has("kernel_shape")) throw call.bad("has no kernel_shape");
  return call.node->integers("kernel_shape");
}

Window window_of(const Call& call, const std::vector<int64_t>& kernel) {
  const Dims& dims = call.dims(0);
  if (dims.size() < 3 || dims.size() > 4) {
    throw call.bad(str(to_string(dims), " is not supported, expected one or two dimensions of space"));
  }
  const size_t space = dims.size() - 2;
  if (kernel.size() != space) throw call.bad("the kernel has other dimensions than the input");
  const std::string auto_pad = call.node->text("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID" && auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER") {
    throw call.bad("auto_pad is none of NOTSET, VALID, SAME_UPPER, SAME_LOWER");
  }
  const std::vector<int64_t> strides = sizes_of(call, "strides", space, 1);
  const std::vector<int64_t> dilations = sizes_of(call, "dilations", space, 1);
  const std::vector<int64_t> pads = sizes_of(call, "pads", 2 * space, 0);
  Window window;
  for (size_t d = 0; d < space; ++d) {
    Slide& slide = d + 1 == space ? window.wide : window.high;
    if (kernel[d] < 1 || kernel[d] > kMostElements) throw call.bad(str("a kernel of ", kernel[d]));
    slide = {dims[2 + d], kernel[d], strides[d], dilations[d], pads[d], pads[space + d]};
    place(call, auto_pad, slide);
  }
  return window;
}

Dims dims_after(const Call& call, const Window& window, int64_t channels) {
  if (call.rank(0) == 3) return {call.dims(0)[0], channels, window.wide.out};
  return {call.dims(0)[0], channels, window.high.out, window.wide.out};
}

}  // namespace hewn::flow

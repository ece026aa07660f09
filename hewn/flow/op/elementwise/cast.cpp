#include "hewn/flow/op/elementwise/elementwise.h"

namespace hewn::flow {
namespace {

// ONNX's numbers of types.
enum Element : int64_t {
  kElementFloat = 1,
  kElementUint8 = 2,
  kElementInt8 = 3,
  kElementUint16 = 4,
  kElementInt16 = 5,
  kElementInt32 = 6,
  kElementInt64 = 7,
  kElementBool = 9,
  kElementFloat16 = 10,
  kElementDouble = 11,
  kElementUint32 = 12,
  kElementUint64 = 13,
  kElementBfloat16 = 16,
};

Type type_of_element(const Call& call, int64_t element) {
  switch (element) {
    case kElementFloat:
    case kElementFloat16:
    case kElementDouble:
    case kElementBfloat16:
      return Type::kFloat;
    case kElementBool:
      return Type::kBool;
    case kElementUint8:
    case kElementInt8:
    case kElementUint16:
    case kElementInt16:
    case kElementInt32:
    case kElementInt64:
    case kElementUint32:
    case kElementUint64:
      return Type::kInt;
    default:
      throw call.bad(str("elements of type ", element, " are not supported"));
  }
}

/// What is left of an integer in fewer bits.
int64_t narrowed(int64_t element, int64_t x) {
  switch (element) {
    case kElementUint8:
      return static_cast<uint8_t>(x);
    case kElementInt8:
      return static_cast<int8_t>(x);
    case kElementUint16:
      return static_cast<uint16_t>(x);
    case kElementInt16:
      return static_cast<int16_t>(x);
    case kElementInt32:
      return static_cast<int32_t>(x);
    case kElementUint32:
      return static_cast<uint32_t>(x);
    default:
      return x;
  }
}

template <class From>
void cast_from(const Call& call, int64_t element) {
  const Type to = call.out[0].spec.type;
  if (to == Type::kFloat) return map<From, float>(call, [](From x) { return static_cast<float>(x); });
  if (to == Type::kBool) return map<From, bool>(call, [](From x) { return x != From{}; });
  map<From, int64_t>(call, [=](From x) {
    if constexpr (std::is_same_v<From, float>) {
      return narrowed(element, to_integer(x));
    } else {
      return narrowed(element, x);
    }
  });
}

void cast_to(const Call& call, int64_t element) {
  with_type(call.type(0), [&](auto from) { cast_from<decltype(from)>(call, element); });
}

std::vector<Spec> infer_cast(const Call& call) {
  return {{type_of_element(call, call.node->integer("to", 0)), call.dims(0)}};
}

void run_cast(const Call& call) { cast_to(call, call.node->integer("to", 0)); }

std::vector<Spec> infer_cast_like(const Call& call) { return {{call.type(1), call.dims(0)}}; }

void run_cast_like(const Call& call) { cast_to(call, kElementInt64); }

}  // namespace

constinit const Operator op::kCast = {.name = "Cast", .infer = infer_cast, .run = run_cast};
constinit const Operator op::kCastLike = {
    .name = "CastLike", .least_inputs = 2, .most_inputs = 2, .infer = infer_cast_like, .run = run_cast_like};

}  // namespace hewn::flow

#include "hewn/io/pickle.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "hewn/core/error.h"
#include "hewn/io/pickle_bytes.h"
#include "hewn/io/pickle_objects.h"

namespace hewn::io {
namespace {

using Kind = PickleValue::Kind;

constexpr size_t kMostPushes = 2'000'000;  // bounds values, items and the stack
constexpr uint8_t kMostDepth = 64;

class PickleReader {
 public:
  PickleReader(std::string_view bytes, const std::string& where) : bytes_(bytes, where), where_(where) {}

  Pickle read() {
    if (bytes_.byte() != kProto) fail("does not begin as a pickle of protocol 2 to 5");
    const unsigned protocol = bytes_.byte();
    if (protocol < 2 || protocol > 5) fail(str("is a pickle of protocol ", protocol, "; expected 2 to 5"));
    for (unsigned op = bytes_.byte(); op != kStop; op = bytes_.byte()) {
      if (!atom(op) && !container(op) && !memo(op) && !object(op)) refuse_opcode(op);
    }
    out_.root = pop();
    if (!stack_.empty() || !marks_.empty()) fail("leaves values behind its end");
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw FormatError(where_, what); }

  [[noreturn]] void refuse_opcode(unsigned op) const {
    if (op == kInst || op == kObj || op == kNewObj || op == kNewObjEx) fail("makes an object, and " + kPlain);
    fail(str("has pickle opcode ", op, " at byte ", bytes_.place() - 1, ", and ", kPlain));
  }

  /// What the file wanted is never looked up; it only has a name.
  [[noreturn]] void refuse_global(const std::string& name) const {
    if (name.starts_with("torch.nn.") || (stack_.empty() && makes_object())) {
      fail(str("is a whole pickled module (", in_quotes(name),
               "), which only its own code can load; in Python: torch.save(model.state_dict(), FILE)"));
    }
    fail(str("asks for ", in_quotes(name), ", and ", kPlain,
             "; nothing was run; in Python: torch.save(model.state_dict(), FILE)"));
  }

  /// Whether an object of the class that was just named is made next.
  bool makes_object() const {
    std::string_view rest = bytes_.rest();
    const auto skip = [&](unsigned op, size_t length) {
      if (!rest.empty() && static_cast<unsigned char>(rest[0]) == op)
        rest.remove_prefix(std::min(rest.size(), length));
    };
    skip(kBinPut, 2);
    skip(kMemoize, 1);
    return rest.starts_with(")\x81");
  }

  void push(uint32_t place) {
    if (++pushes_ > kMostPushes) fail(str("has more than ", kMostPushes, " values"));
    stack_.push_back(place);
  }
  void push_value(PickleValue value) {
    out_.values.push_back(std::move(value));
    push(static_cast<uint32_t>(out_.values.size() - 1));
  }
  void push_integer(Kind kind, int64_t value) { push_value({kind, 0, value, 0, "", {}}); }
  void push_text(uint64_t size) { push_value({Kind::kText, 0, 0, 0, std::string(bytes_.take(size)), {}}); }

  /// Values below the innermost mark belong to what is not finished yet.
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  uint32_t pop() {
    if (stack_.size() <= floor()) fail("takes values that it never gave (pickle)");
    const uint32_t out = stack_.back();
    stack_.pop_back();
    return out;
  }
  std::vector<uint32_t> pop_last(size_t count) {
    if (stack_.size() - floor() < count) fail("takes values that it never gave (pickle)");
    std::vector<uint32_t> out(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return out;
  }
  std::vector<uint32_t> pop_mark() {
    if (marks_.empty()) fail("takes values that it never gave (pickle)");
    std::vector<uint32_t> out = pop_last(stack_.size() - marks_.back());
    marks_.pop_back();
    return out;
  }
  PickleValue& top(Kind kind, const char* name) {
    if (stack_.size() <= floor() || out_.values[stack_.back()].kind != kind)
      fail(str("adds to something that is no ", name));
    return out_.values[stack_.back()];
  }

  void deepen(PickleValue& value, const std::vector<uint32_t>& items) {
    for (const uint32_t item : items) {
      const auto below = static_cast<uint8_t>(out_.at(item).depth + 1);
      value.depth = std::max(value.depth, below);
    }
    if (value.depth > kMostDepth) fail(str("is nested more than ", int{kMostDepth}, " deep"));
  }
  void push_tuple(std::vector<uint32_t> items) {
    PickleValue value{Kind::kTuple, 0, 0, 0, "", std::move(items)};
    deepen(value, value.items);
    push_value(std::move(value));
  }
  void add(PickleValue& to, const std::vector<uint32_t>& items) {
    if (to.kind == Kind::kDict && items.size() % 2 != 0) fail("gives a key without a value");
    deepen(to, items);
    to.items.insert(to.items.end(), items.begin(), items.end());
  }

  bool atom(unsigned op) {
    switch (op) {
      case kNone:
        push_value({});
        return true;
      case kNewTrue:
      case kNewFalse:
        push_integer(Kind::kBool, op == kNewTrue ? 1 : 0);
        return true;
      case kBinInt:
        push_integer(Kind::kInt, static_cast<int32_t>(bytes_.number(4)));
        return true;
      case kBinInt1:
      case kBinInt2:
        push_integer(Kind::kInt, static_cast<int64_t>(bytes_.number(op == kBinInt1 ? 1 : 2)));
        return true;
      case kLong1:
        long_integer(bytes_.byte());
        return true;
      case kBinFloat:
        float_number();
        return true;
      case kBinUnicode:
        push_text(bytes_.number(4));
        return true;
      case kShortBinUnicode:
        push_text(bytes_.byte());
        return true;
      case kBinUnicode8:
        push_text(bytes_.number(8));
        return true;
      default:
        return false;
    }
  }

  void long_integer(unsigned size) {
    if (size > 8) fail("has a whole number of more than 64 bits");
    uint64_t value = bytes_.number(size);
    const bool negative = size > 0 && (value >> (8 * size - 1) & 1) != 0;
    if (negative && size < 8) value |= ~uint64_t{0} << (8 * size);
    push_integer(Kind::kInt, static_cast<int64_t>(value));
  }

  void float_number() {
    uint64_t bits = 0;
    for (const char c : bytes_.take(8))
      bits = bits << 8 | static_cast<unsigned char>(c);  // the first byte is high
    push_value({Kind::kFloat, 0, 0, std::bit_cast<double>(bits), "", {}});
  }

  bool container(unsigned op) {
    switch (op) {
      case kMark:
        if (marks_.size() >= kMostDepth) fail(str("is nested more than ", int{kMostDepth}, " deep"));
        marks_.push_back(stack_.size());
        return true;
      case kEmptyDict:
        push_value({Kind::kDict, 0, 0, 0, "", {}});
        return true;
      case kEmptyList:
        push_value({Kind::kList, 0, 0, 0, "", {}});
        return true;
      case kEmptyTuple:
        push_tuple({});
        return true;
      case kTuple1:
      case kTuple2:
      case kTuple3:
        push_tuple(pop_last(op - kTuple1 + 1));
        return true;
      case kTuple:
        push_tuple(pop_mark());
        return true;
      case kAppend:
      case kAppends: {
        const std::vector<uint32_t> items = op == kAppend ? pop_last(1) : pop_mark();
        add(top(Kind::kList, "list"), items);
        return true;
      }
      case kSetItem:
      case kSetItems: {
        const std::vector<uint32_t> items = op == kSetItem ? pop_last(2) : pop_mark();
        add(top(Kind::kDict, "dict"), items);
        return true;
      }
      default:
        return false;
    }
  }

  bool memo(unsigned op) {
    switch (op) {
      case kBinPut:
      case kLongBinPut:
        remember(bytes_.number(op == kBinPut ? 1 : 4));
        return true;
      case kMemoize:
        remember(memo_.size());
        return true;
      case kBinGet:
      case kLongBinGet: {
        const auto found = memo_.find(bytes_.number(op == kBinGet ? 1 : 4));
        if (found == memo_.end()) fail("names a value that it never gave (pickle)");
        push(found->second);
        return true;
      }
      case kFrame:
        bytes_.number(8);  // only says how much to read at a time
        return true;
      default:
        return false;
    }
  }
  void remember(uint64_t index) {
    if (stack_.size() <= floor()) fail("names a value that it never gave (pickle)");
    if (memo_.size() >= kMostPushes) fail(str("has more than ", kMostPushes, " values"));
    memo_[index] = stack_.back();
  }

  bool object(unsigned op) {
    switch (op) {
      case kGlobal: {
        const std::string_view scope = bytes_.line();
        push_global(str(scope, ".", bytes_.line()));
        return true;
      }
      case kStackGlobal: {
        const std::vector<uint32_t> names = pop_last(2);
        for (const uint32_t name : names) {
          if (out_.at(name).kind != Kind::kText) fail("names a class by something that is no text");
        }
        push_global(out_.at(names[0]).text + "." + out_.at(names[1]).text);
        return true;
      }
      case kReduce: {
        const std::vector<uint32_t> call = pop_last(2);
        push_value(call_known(out_, out_.at(call[0]), out_.at(call[1]), where_));
        return true;
      }
      case kBinPersId:
        push_value(make_storage(out_, out_.at(pop()), where_));
        return true;
      case kBuild: {
        // The attribute _metadata of a state dict: versions of its modules.
        if (out_.at(pop()).kind != Kind::kDict) fail("sets attributes from something that is no dict");
        top(Kind::kDict, "dict");
        return true;
      }
      default:
        return false;
    }
  }
  void push_global(const std::string& name) {
    if (!is_known_global(name)) refuse_global(name);
    push_value({Kind::kGlobal, 0, 0, 0, name, {}});
  }

  inline static const std::string kPlain = "hewn reads only state dicts of tensors and plain values";

  PickleBytes bytes_;
  const std::string& where_;
  Pickle out_;
  std::vector<uint32_t> stack_;
  std::vector<size_t> marks_;  // heights of the stack
  std::unordered_map<uint64_t, uint32_t> memo_;
  size_t pushes_ = 0;
};

}  // namespace

Pickle parse_pickle(std::string_view bytes, const std::string& where) {
  return PickleReader(bytes, where).read();
}

}  // namespace hewn::io

// Pickles that want to run something, or much memory: each is refused, and nothing is run.
#include "hewn/io/pickle.h"

#include <gtest/gtest.h>

#include "hewn/core/files.h"
#include "hewn/io/torch_file.h"
#include "hewn/io/zip.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::io {
namespace {

using test::message_of;
using test::TempFolder;
using namespace std::string_literals;

const std::string kProtocol = "\x80\x02"s;

std::string problem(const std::string& bytes) {
  return message_of([&] { parse_pickle(kProtocol + bytes, "w.pt"); });
}

std::string text(const std::string& value) {
  return str("X", static_cast<char>(value.size()), "\0\0\0"s, value);
}
std::string integer(int64_t value) {
  std::string out = "\x8a\x08";
  for (int i = 0; i < 8; ++i)
    out.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xff));
  return out;
}
std::string tuple(const std::vector<int64_t>& values) {
  std::string out = "(";
  for (const int64_t value : values) out += integer(value);
  return out + "t";
}

/// The pickle of {"w": tensor}.
std::string tensor(int64_t elements, int64_t offset, const std::vector<int64_t>& shape,
                   const std::vector<int64_t>& strides, const std::string& key = "0") {
  return "}" + text("w") + "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") +
         "ctorch\nFloatStorage\n" + text(key) + text("cpu") + integer(elements) + "tQ" + integer(offset) +
         tuple(shape) + tuple(strides) + "\x89" + "ccollections\nOrderedDict\n)RtRs.";
}

/// What is wrong with an archive of this pickle and one storage of 24 bytes.
std::string torch_problem(const std::string& pickle) {
  const TempFolder folder;
  const std::string storage(24, '\0');
  const std::string whole = kProtocol + pickle;
  write_zip(folder / "w.pt", {{"archive/data.pkl", whole}, {"archive/data/0", storage}});
  return message_of([&] { read_torch(folder / "w.pt"); });
}

TEST(Pickle, NothingIsRun) {
  const TempFolder folder;
  const std::string mark = (folder / "ran").string();
  const std::string command = text("touch " + mark);
  for (const std::string& name : {"os\nsystem"s, "posix\nsystem"s, "__builtin__\neval"s, "builtins\nexec"s,
                                  "builtins\ngetattr"s, "torch\nload"s, "collections\nCounter"s}) {
    std::string dotted = name;
    dotted[dotted.find('\n')] = '.';
    const std::string expected = "w.pt: asks for \"" + dotted + "\"";
    EXPECT_TRUE(problem("c" + name + "\n" + command + "\x85R.").starts_with(expected));
    EXPECT_TRUE(problem("}" + text("a") + "c" + name + "\n" + command + "\x85Rs.").starts_with(expected));
    // Protocol 4 names it on the stack.
    const size_t dot = dotted.find('.');
    EXPECT_TRUE(problem("\x8c" + std::string(1, static_cast<char>(dot)) + dotted.substr(0, dot) + "\x8c" +
                        std::string(1, static_cast<char>(dotted.size() - dot - 1)) + dotted.substr(dot + 1) +
                        "\x93" + command + "\x85R.")
                    .starts_with(expected));
  }
  EXPECT_EQ(
      problem("cos\nsystem\n" + command + "\x85R."),
      "w.pt: asks for \"os.system\", and hewn reads only state dicts of tensors and plain values; nothing "
      "was run; in Python: torch.save(model.state_dict(), FILE)");
  EXPECT_NE(problem("(" + command + "ios\nsystem\n.").find("makes an object"), std::string::npos);
  EXPECT_NE(problem("(cos\nsystem\n" + command + "o.").find("os.system"), std::string::npos);
  EXPECT_NE(problem("c__main__\nNet\n)\x81}b.").find("whole pickled module (\"__main__.Net\")"),
            std::string::npos);
  EXPECT_NE(problem("cbad\x1b[31m\n\"name\n.").find("\"bad?[31m.?name\""), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(mark));
}

TEST(Pickle, KnownNamesAreCalledOnlyAsStateDictsDo) {
  for (const std::string& bytes :
       {"ccollections\nOrderedDict\n]\x85R."s, "ctorch\nFloatStorage\n)R."s,
        "ctorch._utils\n_rebuild_tensor_v2\n)R."s, "ctorch._utils\n_rebuild_parameter\nK\x01\x85R."s,
        "K\x01)R."s, "NQ."s, ")Q."s, "]}b."s, "}]b."s, "ccollections\nOrderedDict\n}b."s}) {
    EXPECT_NE(problem(bytes), "") << bytes;
  }
  EXPECT_EQ(problem("ccollections\nOrderedDict\n)R}b."), "");
}

TEST(Pickle, DamageIsAnError) {
  for (const std::string& bytes : {""s,
                                   "."s,
                                   "N"s,
                                   "NN."s,
                                   "(."s,
                                   "(N."s,
                                   "t."s,
                                   "s."s,
                                   "Na."s,
                                   "]Nu."s,
                                   "](Ne"s,
                                   "}(Nu."s,
                                   "h\0."s,
                                   "q\0N."s,
                                   "\x85."s,
                                   "N\x86."s,
                                   "X\xff\xff\xff\xff."s,
                                   "\x8d\xff\xff\xff\xff\xff\xff\xff\xff."s,
                                   "J\1\2."s,
                                   "\x8a\x09\1\1\1\1\1\1\1\1\1."s,
                                   "G\0\0."s,
                                   "cos\n"s,
                                   "cos"s,
                                   "\x93."s,
                                   "NN\x93."s,
                                   "\xfe."s,
                                   "N0."s,
                                   "\x8e\xff\xff\xff\xff\xff\xff\xff\x7f."s}) {
    EXPECT_TRUE(problem(bytes).starts_with("w.pt: ")) << bytes;
  }
  EXPECT_EQ(message_of([] { parse_pickle("\x80\x06N.", "w.pt"); }),
            "w.pt: is a pickle of protocol 6; expected 2 to 5");
  EXPECT_NE(message_of([] { parse_pickle("(dp0\n.", "w.pt"); }), "");
}

TEST(Pickle, DepthAndCountsAreBounded) {
  EXPECT_NE(problem(std::string(100, '(')).find("nested more than 64 deep"), std::string::npos);
  std::string deep = "]";
  for (int i = 0; i < 100; ++i) deep += "\x85";
  EXPECT_NE(problem(deep + ".").find("nested more than 64 deep"), std::string::npos);
  EXPECT_NE(problem(std::string(3'000'000, 'N')).find("more than 2000000 values"), std::string::npos);
  std::string often = "Nq" + "\0"s;
  for (int i = 0; i < 3'000'000; ++i) often += "h\0"s;
  EXPECT_NE(problem(often).find("more than 2000000 values"), std::string::npos);
  // A list that holds itself is no more than that.
  EXPECT_EQ(problem("]q\0h\0a."s), "");
}

TEST(Pickle, NumbersAndTexts) {
  const auto only = [](const std::string& bytes) {
    const Pickle out = parse_pickle(kProtocol + bytes + ".", "w.pt");
    return out.at(out.root);
  };
  EXPECT_EQ(only("J\xfe\xff\xff\xff").integer, -2);
  EXPECT_EQ(only("M\x01\x02").integer, 513);
  EXPECT_EQ(only("\x8a\x02\xff\x80").integer, -32513);
  EXPECT_EQ(only("\x8a\0"s).integer, 0);
  EXPECT_EQ(only(integer(INT64_MIN)).integer, INT64_MIN);
  EXPECT_EQ(only("G\x3f\xf8\0\0\0\0\0\0"s).number, 1.5);
  EXPECT_EQ(only(text("hello")).text, "hello");
  EXPECT_EQ(only("\x88").integer, 1);
}

TEST(Pickle, TensorsStayInsideTheirStorage) {
  EXPECT_EQ(torch_problem(tensor(6, 0, {2, 3}, {3, 1})), "");
  EXPECT_EQ(torch_problem(tensor(6, 5, {1}, {1000})), "");
  EXPECT_EQ(torch_problem(tensor(6, 0, {3, 2}, {1, 3})), "");
  constexpr int64_t kHuge = int64_t{1} << 62;
  const std::vector<std::string> hostile = {
      tensor(6, 1, {2, 3}, {3, 1}),
      tensor(6, 6, {}, {}),
      tensor(6, 0, {2, 3}, {4, 1}),
      tensor(7, 0, {7}, {1}),
      tensor(kHuge, 0, {kHuge}, {1}),
      tensor(kHuge, kHuge, {1}, {1}),
      tensor(6, -1, {1}, {1}),
      tensor(6, 5, {2}, {-1}),
      tensor(6, 0, {-1}, {1}),
      tensor(6, 0, {2, 3}, {1}),
      tensor(6, 0, {3}, {kHuge}),
      tensor(6, 0, {kHuge, 8}, {0, 0}),
      tensor(6, 0, {0, kHuge, kHuge}, {1, 1, 1}),
      tensor(6, 0, {int64_t{1} << 40}, {0}),
      tensor(6, 0, std::vector<int64_t>(17, 1), std::vector<int64_t>(17, 1)),
      tensor(6, 0, {1}, {1}, "1"),
      tensor(6, 0, {1}, {1}, std::string(101, '0')),
      tensor(6, 0, {1}, {1}, "../version")};
  for (const std::string& bytes : hostile) EXPECT_NE(torch_problem(bytes), "");
  EXPECT_NE(
      torch_problem(tensor(6, 1, {2, 3}, {3, 1})).find("tensor \"w\": reaches element 6 of a storage of 6"),
      std::string::npos);
}

TEST(Pickle, OnlyDictsOfTensorsAreStateDicts) {
  for (const std::string& bytes : {"N."s, "]."s, "}."s, "}" + text("a") + "K\x01s.",
                                   "}" + text("state_dict") + "}s.", "}" + text("model") + "Ns."}) {
    EXPECT_NE(torch_problem(bytes).find("expected a state dict"), std::string::npos);
  }
  // A dict that is its own state dict.
  EXPECT_NE(torch_problem("}q\0"s + text("model") + "h\0s."s), "");
}

}  // namespace
}  // namespace hewn::io

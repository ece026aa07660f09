#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/command.h"

namespace hewn::cli {

/// Option -> text: one point of the product of all lists.
using Values = std::map<std::string, std::string>;

/// Options of `hewn bench` as they were given; those with lists are still one text.
struct BenchFields {
  std::string kind;
  std::string source;  // a file to time, behind the kind
  Values texts;
  int64_t rounds = 15;
  int64_t seed = 0;
  bool gradients = false;
  bool break_even = false;
  bool json = false;
  bool layers = false;  // of a network of general tensors
  bool latency = false;
  int64_t calls = 1000;  // of latency
};

/// An option that a kind reads, and what it is where it is not given.
struct KindOption {
  std::string key;
  std::string usual;
  bool list = true;  // several values with commas between
};

/// What can be measured. Points follow the order of its options.
struct Kind {
  std::string name;
  std::vector<KindOption> options;
  bool products = false;  // has gradients and a break-even sparsity
};
/// Throws Error with the known names for an unknown one.
const Kind& find_kind(const std::string& name);

/// A value as a number; throws Error where it is none.
int64_t number(const Values& values, const std::string& key);
/// The same for threads, which are checked.
int64_t thread_count(const Values& values);

/// Every combination of the listed values, the last option changing fastest.
std::vector<Values> combinations(const Kind& kind, const BenchFields& fields);

/// Throws Error for a value that no layer and no network can have.
void check_point(const Values& values);

/// Needs LibTorch.
int run_bench(BenchFields& fields, const Given& given);

}  // namespace hewn::cli

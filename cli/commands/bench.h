#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hewn/core/json.h"

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
};

/// A measurement that is ready to run: everything that can be wrong with its options has been said.
using Job = std::function<Json()>;

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
  Job (*prepare)(const Values&, const BenchFields&);
  std::vector<std::string> columns;  // of the table, beside those that all have
  bool products = false;             // has gradients and a break-even sparsity
};

/// A value as a number; throws Error where it is none.
int64_t number(const Values& values, const std::string& key);
/// The same for threads, which are checked.
int64_t thread_count(const Values& values);

// One per file.
std::vector<Kind> layer_kinds();
std::vector<Kind> network_kinds();

}  // namespace hewn::cli

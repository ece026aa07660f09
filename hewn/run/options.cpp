#include "hewn/run/options.h"

#include "hewn/core/error.h"
#include "hewn/data/info.h"
#include "hewn/nn/signature.h"
#include "hewn/run/costs.h"
#include "hewn/run/recipe.h"

namespace hewn::run {

bool is_taught(const Options& o) { return !o.teacher.empty() && o.teacher_share > 0; }

Options usual_options(data::Kind kind) {
  Options o;
  if (kind == data::Kind::kClicks) {
    o.model = "ctr-dnn";
    o.widths = {400, 400, 400};
    o.prune.layers = {"fc1"};
    o.epochs = 4;
    o.batch = 4096;
    o.optimiser = "adam";
    o.lr = 1e-2;
    o.lr_schedule = "exponential";
    o.lr_end = 3e-4;
    o.warmup = 0;
    o.weight_decay = 1e-5;
  }
  if (kind == data::Kind::kClasses || kind == data::Kind::kNumbers) {
    o.widths = {256, 256};
    o.epochs = 50;
    o.batch = 64;
    o.optimiser = "adam";
    o.log_every = 10;
  }
  if (kind == data::Kind::kText) {
    o.model = "char-transformer";
    o.width = 32;
    o.prune.layers = {"blocks.*"};
    o.prune.min_blocks = 64;  // the attention's last matrix is one of the small ones
    o.epochs = 5;
    o.batch = 32;
    o.optimiser = "adamw";
    o.lr = 3e-3;
    o.weight_decay = 0.05;
  }
  return o;
}

Options usual_options(const std::string& data) {
  const data::DataInfo& info = data::find_info(data);
  Options o = usual_options(info.kind);
  o.data = data;
  // Its losses mean little alone: they are shown between the dense model's and the lowest possible one.
  o.compare_dense = info.name == "synthetic-ctr";
  return o;
}

Options options_from(const std::map<std::string, std::string>& given) {
  const auto data = given.find("data");
  const auto model = given.find("model");
  const nn::Takes takes =
      model != given.end() ? nn::usual_signature(model->second).takes : nn::Takes::kValues;
  Options options = usual_options(data != given.end()           ? data->second
                                  : takes == nn::Takes::kClicks ? "synthetic-ctr"
                                  : takes == nn::Takes::kText   ? "text"
                                                                : Options().data);
  const OptionTable table = describe(options);
  for (const auto& [key, text] : given) table.find(key, "command line").parse(text);
  return options;
}

namespace {

bool says(const std::string& key, bool Option::*what) {
  Options any;
  const OptionTable table = describe(any);
  for (const std::vector<Option>* rows : {&table.options(), &table.old_options()}) {
    for (const Option& option : *rows) {
      if (option.key == key) return option.*what;
    }
  }
  return false;
}

}  // namespace

std::map<std::string, std::string> current_keys(const std::map<std::string, std::string>& given) {
  Options any;
  const OptionTable table = describe(any);
  std::map<std::string, std::string> out;
  for (const auto& [key, text] : given) {
    const Option& option = table.find(key, "options");
    if (option.replaced_by.empty()) {
      out[key] = text;
      continue;
    }
    option.parse(text);
    const Json now = table.find(option.replaced_by, "options").get();
    out[option.replaced_by] = now.is_string() ? now.get<std::string>() : now.dump();
  }
  return out;
}

bool only_prunes(const std::string& key) { return says(key, &Option::only_prunes); }

bool may_change_on_resume(const std::string& key) { return says(key, &Option::may_change_on_resume); }

void check_options(const Options& given) {
  Options o = given;
  const OptionTable table = describe(o);
  table.check();
  // The run keeps them as JSON, which holds no other bytes.
  for (const Option& option : table.options()) {
    const Json value = option.get();
    if (option.key == "out" || !value.is_string()) continue;
    const auto& text = value.get_ref<const std::string&>();
    if (valid_utf8(text) != text) throw Error(str(option.key, ": expected UTF-8 text, got ", text));
  }
  if (o.lr_schedule == "exponential" && o.lr_end <= 0) {
    throw Error(str("lr-end: expected a number above 0 with lr-schedule exponential, got ", o.lr_end));
  }
  if (o.keep_support && o.init.empty())
    throw Error("keep-support: expected init, the file or the run with the pruned network");
  if (o.keep_support && prune::parse_budget(o.prune.budget).limited())
    throw Error(str("budget: ", o.prune.budget, " does not go with keep-support, which keeps what init has"));
  data::find_info(o.data);
  nn::usual_signature(o.model);
  check(pruner_options(o, 0));
  if (o.teacher == kSelfDense && resolve_recipe(o).dense()) {
    throw Error(
        "teacher: self-dense is the dense model beside a pruned one; give a dense model a file or a run");
  }
  check_costs(o);
}

data::Part evaluated_part(const Options& o) {
  if (o.eval_on == "test") return data::Part::kTest;
  if (o.eval_on == "validation") return data::Part::kValidation;
  throw Error(str("eval-on: expected test or validation, got \"", o.eval_on, "\""));
}

}  // namespace hewn::run

// Networks of general tensors: run on arrays, and timed.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <iostream>
#include <set>

#include "cli/latency.h"
#include "cli/networks.h"
#include "cli/source.h"
#include "cli/table.h"
#include "cli/usage/bench.h"
#include "cli/usage/predict.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "hewn/io/npy.h"
#include "hewn/io/npz.h"
#include "hewn/runtime/model.h"

namespace hewn::cli {
namespace {

flow::Tensor tensor_from(const io::NpyArray& array, const flow::Port& port, const std::string& where) {
  flow::Tensor out(flow::Spec{port.spec.type, array.dims});
  std::visit(
      [&](const auto& values) {
        const auto convert = [&](auto to) {
          using To = typename decltype(to)::value_type;
          for (size_t i = 0; i < values.size(); ++i) to[i] = static_cast<To>(values[i]);
        };
        const bool floats = std::is_same_v<typename std::decay_t<decltype(values)>::value_type, float>;
        if (floats && port.spec.type != flow::Type::kFloat) {
          throw Error(str(where, ": has floats, expected ", name_of(port.spec.type)));
        }
        if (port.spec.type == flow::Type::kFloat) convert(out.values<float>());
        if (port.spec.type == flow::Type::kInt) convert(out.values<int64_t>());
        if (port.spec.type == flow::Type::kBool) convert(out.values<bool>());
      },
      array.values);
  return out;
}

io::NpyArray array_from(const flow::Tensor& tensor) {
  io::NpyArray out{tensor.dims(), {}};
  if (tensor.type() == flow::Type::kFloat) {
    out.values = std::vector<float>(tensor.values<float>().begin(), tensor.values<float>().end());
  } else if (tensor.type() == flow::Type::kInt) {
    out.values = std::vector<int64_t>(tensor.values<int64_t>().begin(), tensor.values<int64_t>().end());
  } else {
    out.values = std::vector<uint8_t>(tensor.values<bool>().begin(), tensor.values<bool>().end());
  }
  return out;
}

/// name=file, or files in the order of the network's inputs.
std::vector<flow::Tensor> read_inputs(const flow::Graph& graph, const std::vector<std::string>& words) {
  const auto names = [&] {
    std::string out;
    for (const flow::Port& port : graph.inputs)
      out += (out.empty() ? "" : ", ") + plain_text(graph.name(port.value));
    return out;
  };
  if (words.size() != graph.inputs.size()) {
    throw Error(str("INPUT: expected ", graph.inputs.size(), " (", names(), "), got ", words.size()));
  }
  std::vector<std::string> files(graph.inputs.size());
  for (size_t i = 0; i < words.size(); ++i) {
    size_t at = i;
    std::string file = words[i];
    for (size_t p = 0; p < graph.inputs.size(); ++p) {
      const std::string start = graph.name(graph.inputs[p].value) + "=";
      if (!words[i].starts_with(start)) continue;
      at = p;
      file = words[i].substr(start.size());
    }
    if (!files[at].empty())
      throw Error(str(words[i], ": the input ", plain_text(graph.name(graph.inputs[at].value)),
                      " was given already"));
    files[at] = file;
  }
  std::vector<flow::Tensor> out;
  for (size_t i = 0; i < files.size(); ++i) {
    if (!files[i].ends_with(".npy"))
      throw Error(str(files[i], ": expected an array, a file that ends in .npy"));
    out.push_back(tensor_from(io::read_npy_array(files[i]), graph.inputs[i], files[i]));
  }
  return out;
}

void write_outputs(const flow::Graph& graph, const std::vector<flow::Tensor>& outputs,
                   const std::string& file) {
  if (file.ends_with(".npy") && outputs.size() == 1) {
    return write_file_atomically(file, io::npy_bytes(array_from(outputs[0])));
  }
  if (!file.ends_with(".npz")) {
    throw Error(str("out: expected a name that ends in .npz",
                    outputs.size() == 1 ? " or .npy" : str(" for ", outputs.size(), " outputs"), ", got ",
                    file));
  }
  std::vector<std::pair<std::string, std::string>> arrays;
  for (size_t i = 0; i < outputs.size(); ++i) {
    arrays.emplace_back(graph.name(graph.outputs[i].value), io::npy_bytes(array_from(outputs[i])));
  }
  io::write_npz(file, arrays);
}

/// The first numbers of a tensor.
std::string start_text(const flow::Tensor& tensor) {
  std::string out;
  const auto shown = std::min<size_t>(8, static_cast<size_t>(tensor.elements()));
  for (size_t i = 0; i < shown; ++i) {
    out += out.empty() ? "" : " ";
    if (tensor.type() == flow::Type::kFloat) out += short_number(tensor.values<float>()[i]);
    if (tensor.type() == flow::Type::kInt) out += str(tensor.values<int64_t>()[i]);
    if (tensor.type() == flow::Type::kBool) out += tensor.values<bool>()[i] ? "true" : "false";
  }
  return out + (static_cast<int64_t>(shown) < tensor.elements() ? " ..." : "");
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Numbers of about the size that networks see; whole numbers are zeros.
std::vector<flow::Tensor> made_up(const flow::Graph& graph, int64_t batch) {
  std::vector<flow::Tensor> out;
  for (const flow::Port& port : graph.inputs) {
    flow::Spec spec = port.spec;
    for (int64_t& dim : spec.dims) dim = dim < 0 ? batch : dim;
    out.emplace_back(spec);
    if (spec.type != flow::Type::kFloat) continue;
    auto values = out.back().values<float>();
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(std::sin(0.37 * static_cast<double>(i)));
  }
  return out;
}

/// Whole numbers from 1 on, with commas between.
std::vector<int64_t> whole_numbers(const std::string& key, const std::string& text) {
  std::vector<int64_t> out;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, end - at);
    const bool digits =
        !word.empty() && word.size() < 7 && word.find_first_not_of("0123456789") == std::string::npos;
    if (!digits || std::stoll(word) < 1)
      throw Error(str(key, ": expected whole numbers from 1 on, got ", text));
    out.push_back(std::stoll(word));
    at = end + 1;
  }
  return out;
}

std::vector<int64_t> batches_of(const std::string& text) {
  return text == "auto" ? std::vector<int64_t>{1, 8} : whole_numbers("batch", text);
}

/// Measures, and prints or adds a row.
void say_latency(const BenchFields& fields, int64_t batch, int threads, const std::function<void()>& body,
                 Json& json) {
  const Latency latency = Latency::measure(fields.calls, threads > 1, body);
  Json row = latency.to_json();
  row["batch"] = batch;
  json["rows"].push_back(std::move(row));
  if (!fields.json) std::cout << "batch " << batch << ", " << latency.text();
}

}  // namespace

int run_predict_network(const PredictFields& fields, const Given& given) {
  static const std::set<std::string> kTaken = {"out", "json", "threads"};
  for (const auto& [key, text] : given) {
    if (!kTaken.contains(key)) throw Error(str(key, ": does not apply to networks of general tensors"));
  }
  NetworkSource source = open_network(fields.model);
  const std::vector<flow::Tensor> inputs = read_inputs(source.graph, fields.inputs);
  flow::Network network(source.graph, source.block);
  network.set_threads(static_cast<int>(fields.options.threads));
  const double begin = cpu_seconds();
  const std::vector<flow::Tensor> outputs = network.run(inputs);
  const double seconds = cpu_seconds() - begin;
  if (!fields.out.empty()) write_outputs(source.graph, outputs, fields.out);
  Json json = {{"model", fields.model}, {"seconds", seconds}, {"outputs", Json::array()}};
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string name = source.graph.name(source.graph.outputs[i].value);
    json["outputs"].push_back(
        {{"name", valid_utf8(name)}, {"type", name_of(outputs[i].type())}, {"shape", outputs[i].dims()}});
    if (!fields.json)
      std::cout << plain_text(name) << " (" << to_string(outputs[i].spec()) << "): " << start_text(outputs[i])
                << '\n';
  }
  if (fields.json) std::cout << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  if (!fields.json && !fields.out.empty()) std::cout << "written to " << fields.out << '\n';
  return 0;
}

int run_bench_network(const BenchFields& fields, const Given& given) {
  static const std::set<std::string> kTaken = {"file", "batch",  "threads", "rounds",
                                               "json", "layers", "latency", "calls"};
  for (const auto& [key, text] : given) {
    if (!kTaken.contains(key)) throw Error(str(key, ": does not apply to networks of general tensors"));
  }
  if (given.contains("calls") && !fields.latency) throw Error("calls: goes with --latency only");
  const std::string path = fields.texts.at("file");
  const NetworkSource source = open_network(path);
  flow::Network network(source.graph, source.block);
  const std::string& threads = fields.texts.at("threads");
  network.set_threads(threads == "auto" ? 1 : static_cast<int>(whole_numbers("threads", threads).front()));
  Json json = {{"file", path}, {"threads", network.threads()}, {"rows", Json::array()}};
  std::vector<std::vector<std::string>> rows = {{"batch", "runs", "CPU ms", "p95", "p99"}};
  for (const int64_t batch : batches_of(fields.texts.at("batch"))) {
    const std::vector<flow::Tensor> inputs = made_up(network.graph(), batch);
    std::vector<flow::Tensor> outputs = network.run(inputs);
    if (fields.layers) {
      network.profile(inputs);
      std::vector<std::vector<std::string>> steps = {{"step", "CPU ms", "G/s"}};
      for (const flow::StepTime& step : network.profile(inputs)) {
        steps.push_back({plain_text(step.what), fixed(1e3 * step.seconds, 3),
                         fixed(1e-9 * static_cast<double>(step.work) / std::max(step.seconds, 1e-9), 1)});
      }
      if (!fields.json) print_table(std::cout, steps, {false, true, true});
    }
    if (fields.latency) {
      say_latency(
          fields, batch, network.threads(), [&] { network.run(inputs, outputs); }, json);
      continue;
    }
    std::vector<double> times;
    for (double total = 0; total < 0.5 * static_cast<double>(fields.rounds) || times.size() < 5;) {
      const double begin = cpu_seconds();
      network.run(inputs, outputs);
      times.push_back(1e3 * (cpu_seconds() - begin));
      total += times.back() / 1e3;
    }
    std::sort(times.begin(), times.end());
    const auto at = [&](double share) {
      return times[static_cast<size_t>(share * static_cast<double>(times.size() - 1))];
    };
    rows.push_back(
        {str(batch), str(times.size()), fixed(at(0.5), 3), fixed(at(0.95), 3), fixed(at(0.99), 3)});
    json["rows"].push_back(
        {{"batch", batch}, {"runs", times.size()}, {"ms", at(0.5)}, {"p95", at(0.95)}, {"p99", at(0.99)}});
  }
  if (fields.json) {
    std::cout << json.dump() << '\n';
  } else if (!fields.latency) {
    print_table(std::cout, rows, {true, true, true, true, true});
  }
  return 0;
}

int run_latency_model(const BenchFields& fields, const Given& given) {
  static const std::set<std::string> kTaken = {"file", "batch", "threads", "json", "latency", "calls"};
  for (const auto& [key, text] : given) {
    if (!kTaken.contains(key)) throw Error(str(key, ": means nothing beside --latency"));
  }
  const std::string path = fields.texts.at("file");
  source_kind("bench file", path, {io::SourceKind::kModel, io::SourceKind::kOnnx});
  runtime::Model model = runtime::Model::load(path);
  const std::string& threads = fields.texts.at("threads");
  model.set_threads(threads == "auto" ? 1 : static_cast<int>(whole_numbers("threads", threads).front()));
  Json json = {{"file", path}, {"threads", model.threads()}, {"rows", Json::array()}};
  for (const int64_t batch : batches_of(fields.texts.at("batch"))) {
    const std::vector<float> input(static_cast<size_t>(batch * model.inputs()), 1.0F);
    std::vector<float> output(static_cast<size_t>(batch * model.outputs()));
    say_latency(
        fields, batch, model.threads(), [&] { model.run(input.data(), batch, output.data()); }, json);
  }
  if (fields.json) std::cout << json.dump() << '\n';
  return 0;
}

}  // namespace hewn::cli

// Every built-in network as an ONNX file: ONNX's own checker takes it, and what is read back from it computes
// what the LibTorch model computes.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <cstring>

#include "hewn/core/files.h"
#include "hewn/core/version.h"
#include "hewn/deploy/export.h"
#include "hewn/deploy/open_model.h"
#include "hewn/deploy/smaller/export_int8.h"
#include "hewn/flow/model_file.h"
#include "hewn/flow/network.h"
#include "hewn/nn/slots.h"
#include "hewn/onnx/export.h"
#include "hewn/onnx/import.h"
#include "hewn/prune/gate.h"
#include "hewn/prune/support.h"
#include "hewn/run/config.h"
#include "hewn/run/summary.h"
#include "hewn/runtime/preprocessing.h"
#include "hewn/save.h"
#include "hewn/tensor/state_dict.h"
#include "hewn/train/network.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::deploy {
namespace {

using test::message_of;

/// A finished run of a network with random numbers, whose larger layers lose half of their blocks.
class FinishedSample {
 public:
  FinishedSample(const std::map<std::string, std::string>& given, nn::Signature of)
      : run{folder_ / "run"}, signature(std::move(of)), options_(run::options_from(given)) {
    at::manual_seed(1);
    const at::NoGradGuard no_grad;
    model = train::build_model(options_, signature);
    model->eval();
    for (auto& [key, tensor] : tensor::state_dict(*model)) {
      if (key.ends_with("running_var")) tensor.uniform_(0.3, 3);
      if (key.ends_with("running_mean") || key.ends_with("bias")) tensor.normal_(0, 0.3);
      if (tensor.dim() == 1 && key.ends_with("weight")) tensor.uniform_(0.5, 1.5);
    }
    prune_half();
    std::filesystem::create_directories(run.path);
    run::write_config(run, {options_, 1, signature, "test"});
    run::write_summary(run.summary(), {});
    save(*model, blocks, run.model());
  }

  at::Tensor input(int64_t batch) const {
    if (signature.takes == nn::Takes::kText) return at::randint(signature.outputs, {batch, 5}, at::kLong);
    std::vector<int64_t> shape = signature.input;
    shape.insert(shape.begin(), batch);
    if (signature.takes == nn::Takes::kValues) return at::randn(shape);
    std::vector<at::Tensor> fields;
    for (const int64_t size : signature.vocabularies) fields.push_back(at::randint(size, {batch}, at::kInt));
    return at::stack(fields, 1);
  }
  std::filesystem::path exported(const std::string& name) const {
    export_run(run, folder_ / name, io::DType::kF32);
    return folder_ / name;
  }

 private:
  void prune_half() {
    const BlockShape block{4, 4};
    for (const prune::LayerPlan& layer :
         prune::make_plan(nn::weight_shapes(nn::find_slots(*model)), {block, 0.5, 20, {"*"}}).layers) {
      if (!layer.pruned) continue;
      const at::Tensor active = (at::arange(layer.grid.blocks()) % 2).to(at::kByte);
      at::Tensor weight = tensor::state_dict(*model).at(layer.name + ".weight");
      weight.copy_(prune::block_scale(weight, {}, active, prune::layout_of(weight, block)));
      blocks[layer.name] = prune::blocks_of(layer.grid, active);
    }
  }

  test::TempFolder folder_;

 public:
  run::Folder run;
  nn::Signature signature;
  std::shared_ptr<nn::Model> model;
  Blocks blocks;

 private:
  run::Options options_;
};

::onnx::ModelProto checked(const std::filesystem::path& file) {
  ::onnx::ModelProto proto;
  EXPECT_TRUE(proto.ParseFromString(read_file(file)));
  EXPECT_NO_THROW(::onnx::checker::check_model(proto));
  // Shapes that the file states must be those that follow from its nodes.
  ::onnx::ModelProto inferred = proto;
  EXPECT_NO_THROW(
      ::onnx::shape_inference::InferShapes(inferred, ::onnx::OpSchemaRegistry::Instance(), {true, 1, true}));
  EXPECT_EQ(proto.opset_import(0).version(), 17);
  EXPECT_EQ(proto.ir_version(), 8);
  EXPECT_EQ(proto.producer_name(), "hewn");
  EXPECT_EQ(proto.producer_version(), kVersion);
  for (const auto* port : {&proto.graph().input(0), &proto.graph().output(0)}) {
    EXPECT_EQ(port->type().tensor_type().shape().dim(0).dim_param(), "batch");
  }
  return proto;
}

flow::Tensor as_flow(const at::Tensor& tensor) {
  const bool numbers = tensor.is_floating_point();
  const at::Tensor plain = tensor.to(numbers ? at::kFloat : at::kLong).contiguous();
  flow::Tensor out(flow::Spec{numbers ? flow::Type::kFloat : flow::Type::kInt, plain.sizes().vec()});
  std::memcpy(out.bytes(), plain.data_ptr(), out.byte_count());
  return out;
}

void expect_same(const FinishedSample& sample, const flow::Graph& graph) {
  const at::NoGradGuard no_grad;
  flow::Network network(graph);
  for (const int64_t batch : {1, 3}) {
    const at::Tensor input = sample.input(batch);
    const at::Tensor expected = sample.model->forward(input).contiguous();
    const flow::Tensor got = network.run({as_flow(input)}).at(0);
    ASSERT_EQ(got.dims(), expected.sizes().vec());
    const at::Tensor numbers =
        at::from_blob(const_cast<std::byte*>(got.bytes()), expected.sizes(), at::kFloat);
    EXPECT_LT((numbers - expected).abs().max().item<double>(), 1e-5 * expected.abs().max().item<double>());
  }
}

/// In 8 bits it is nearly the same, and its file is a model like others.
void expect_nearly(const FinishedSample& sample) {
  const at::NoGradGuard no_grad;
  InputBatches batches;
  for (int i = 0; i < 4; ++i) batches.push_back({as_flow(sample.input(4))});
  const test::TempFolder folder;
  const Int8Export written = export_int8(trained_by(sample.run), folder / "m.hewn", batches, {});
  EXPECT_TRUE(std::all_of(written.layers.begin(), written.layers.end(),
                          [](const flow::QuantisedLayer& layer) { return layer.bytes; }));
  EXPECT_LT(written.bytes, written.bytes_dense);
  const at::Tensor input = sample.input(3);
  const at::Tensor expected = sample.model->forward(input).contiguous();
  const flow::Tensor got = flow::Network(written.graph).run({as_flow(input)}).at(0);
  ASSERT_EQ(got.dims(), expected.sizes().vec());
  const at::Tensor numbers = at::from_blob(const_cast<std::byte*>(got.bytes()), expected.sizes(), at::kFloat);
  EXPECT_LT((numbers - expected).norm().item<double>(), 0.1 * expected.norm().item<double>());
  if (sample.signature.takes == nn::Takes::kText) return;
  OpenModel model = open_model(folder / "m.hewn", 1);
  const at::Tensor floats = input.to(at::kFloat).contiguous();
  at::Tensor answers = at::empty_like(expected);
  model.run(floats.data_ptr<float>(), 3, answers.data_ptr<float>());
  EXPECT_TRUE(answers.equal(numbers));
  EXPECT_EQ(model.vocabularies(), sample.signature.vocabularies);
}

::onnx::ModelProto expect_file(const FinishedSample& sample) {
  const std::filesystem::path file = sample.exported("m.onnx");
  expect_same(sample, onnx::read_onnx(file));
  expect_nearly(sample);
  return checked(file);
}

const nn::Signature kSmallImage{{3, 16, 16}, 7};

TEST(OnnxExport, Mlp) {
  expect_file({{{"model", "mlp"}, {"widths", "40,24"}}, {{1, 9, 7}, 10}});
  expect_file({{{"model", "mlp"}, {"widths", "40"}}, {{17}, 3}});
}

TEST(OnnxExport, CifarResnets) {
  for (const char* model : {"resnet20", "resnet32", "resnet44", "resnet56"}) {
    expect_file({{{"model", model}}, kSmallImage});
  }
}

TEST(OnnxExport, Resnets) {
  expect_file({{{"model", "resnet18"}, {"width", "8"}}, kSmallImage});
  expect_file({{{"model", "resnet18"}, {"width", "8"}, {"stem", "imagenet"}}, {{3, 66, 70}, 5}});
  expect_file({{{"model", "resnet50"}, {"width", "4"}}, {{3, 66, 70}, 5}});
}

TEST(OnnxExport, Vit) {
  expect_file({{{"model", "vit-s/16"}, {"width", "8"}, {"depth", "2"}}, kSmallImage});
  const FinishedSample sample({{"model", "vit-s/16"}, {"width", "4"}, {"depth", "1"}, {"patch", "8"}},
                              {{1, 16, 24}, 4});
  expect_file(sample);
  expect_same(sample, flow::read_flow_model(sample.exported("m.hewn")).graph);
}

TEST(OnnxExport, CharTransformerOfAnyLength) {
  const FinishedSample sample(
      {{"model", "char-transformer"}, {"width", "8"}, {"depth", "2"}, {"context", "12"}},
      {{12}, 20, nn::Takes::kText});
  const ::onnx::ModelProto proto = expect_file(sample);
  const auto& type = proto.graph().input(0).type().tensor_type();
  EXPECT_EQ(type.elem_type(), ::onnx::TensorProto::INT64);
  EXPECT_EQ(type.shape().dim(1).dim_param(), "length");
  expect_same(sample, flow::read_flow_model(sample.exported("m.hewn")).graph);
}

TEST(OnnxExport, ClickModelTakesWholeNumbers) {
  const ::onnx::ModelProto proto =
      expect_file({{{"model", "ctr-dnn"}, {"widths", "40,24"}, {"embedding", "6"}},
                   {{4}, 1, nn::Takes::kClicks, {3, 1, 200, 17}}});
  EXPECT_EQ(proto.graph().input(0).type().tensor_type().elem_type(), ::onnx::TensorProto::INT64);
  std::map<std::string, std::string> said;
  for (const auto& entry : proto.metadata_props()) said[entry.key()] = entry.value();
  EXPECT_EQ(said["hewn.vocabularies"], "[3,1,200,17]");
}

TEST(OnnxExport, DroppedBlocksAreZerosAndInputsAreDescribed) {
  const FinishedSample sample({{"model", "mlp"}, {"widths", "36"}}, {{64}, 3});
  runtime::write_preprocessing(sample.run.inputs(),
                               {{"a", "b", "c"}, {{"kind", "image"}, {"mean", {0.5}}}, {}});
  const ::onnx::ModelProto proto = checked(sample.exported("m.onnx"));
  bool found = false;
  for (const auto& tensor : proto.graph().initializer()) {
    if (tensor.name() != "fc1.weight") continue;
    found = true;
    ASSERT_EQ(tensor.raw_data().size(), 36U * 64U * 4U);
    const at::Tensor weight =
        at::from_blob(const_cast<char*>(tensor.raw_data().data()), {36, 64}, at::kFloat);
    EXPECT_TRUE(at::equal(weight, tensor::state_dict(*sample.model).at("fc1.weight")));
    EXPECT_EQ((weight == 0).sum().item<int64_t>(), 36 * 64 / 2);
  }
  EXPECT_TRUE(found);
  std::map<std::string, std::string> said;
  for (const auto& entry : proto.metadata_props()) said[entry.key()] = entry.value();
  EXPECT_EQ(said["hewn.classes"], R"(["a","b","c"])");
  EXPECT_EQ(Json::parse(said["hewn.preprocessing"])["mean"][0], 0.5);
  EXPECT_EQ(Json::parse(said["hewn.about"])["model"], "mlp");
}

TEST(OnnxExport, UnitsWithoutBlocksAreLeftOut) {
  // Of ten columns of blocks every second one is gone.
  const FinishedSample sample({{"model", "mlp"}, {"widths", "40"}}, {{64}, 3});
  const test::TempFolder folder;
  for (const char* name : {"m.onnx", "m.hewn"}) {
    const ExportReport report = export_run(sample.run, folder / name, io::DType::kF32);
    EXPECT_EQ(report.removed.units, 20) << name;
    EXPECT_EQ(report.removed.weights, 20 * 64 + 3 * 20) << name;
    EXPECT_EQ(report.bytes_dense, 4 * (64 * 40 + 40 + 40 * 3 + 3)) << name;
  }
  const flow::Graph graph = onnx::read_onnx(folder / "m.onnx");
  for (const auto& [value, tensor] : graph.constants) {
    if (graph.name(value) != "fc1.weight") continue;
    EXPECT_EQ(tensor.dims(), (flow::Dims{20, 64}));
  }
  expect_same(sample, graph);
}

TEST(OnnxExport, AttentionIsWrittenWholeOnly) {
  const FinishedSample sample({{"model", "vit-s/16"}, {"width", "4"}, {"depth", "1"}}, kSmallImage);
  test::TempFolder folder;
  export_run(sample.run, folder / "m.hewn", io::DType::kF32);
  export_run(sample.run, folder / "m16.hewn", io::DType::kBF16);
  EXPECT_LT(std::filesystem::file_size(folder / "m16.hewn"), std::filesystem::file_size(folder / "m.hewn"));
  const flow::Graph whole = flow::read_flow_model(folder / "m.hewn").graph;
  const flow::Graph halved = flow::read_flow_model(folder / "m16.hewn").graph;
  flow::Spec spec = whole.inputs[0].spec;
  spec.dims[0] = 2;
  flow::Tensor input(spec);
  for (size_t i = 0; i < input.values<float>().size(); ++i)
    input.values<float>()[i] = static_cast<float>(i % 17) / 17;
  const flow::Tensor expected = flow::Network(whole).run({input})[0];
  const flow::Tensor got = flow::Network(halved).run({input})[0];
  for (size_t i = 0; i < got.values<float>().size(); ++i)
    EXPECT_NEAR(got.values<float>()[i], expected.values<float>()[i], 0.05);
  const ExportReport report = export_run(sample.run, folder / "m.pt", io::DType::kF32);
  EXPECT_EQ(report.layers.size(), 6U);
  EXPECT_EQ(report.layers[1].name, "blocks.0.attn.qkv");
  EXPECT_TRUE(report.layers[1].pruned);
  EXPECT_GT(report.bytes, report.bytes_dense);
}

}  // namespace
}  // namespace hewn::deploy

#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include "arguments.h"
#include "bindings.h"
#include "hewn/core/error.h"
#include "hewn/prune/gate.h"
#include "hewn/prune/support.h"
#include "options.h"
#include "slots.h"

namespace py = pybind11;

namespace hewn::python {
namespace {

using Release = py::call_guard<py::gil_scoped_release>;
using OwnerPtr = std::shared_ptr<PrunerOfSlots>;

py::object tensor_or_none(const at::Tensor& tensor) {
  return tensor.defined() ? py::cast(tensor) : py::none();
}

py::tuple layout_of(const WeightLayout& layout) {
  const Grid& g = layout.grid;
  return py::make_tuple(g.rows, g.cols, g.block.rows, g.block.cols, g.groups, layout.taps);
}

std::shared_ptr<Slot> make_slot(const std::string& name, const at::Tensor& leaf, int64_t groups, bool linear,
                                const std::optional<std::vector<int64_t>>& window) {
  auto slot = std::make_shared<Slot>();
  slot->name = name;
  slot->leaf = leaf;
  slot->groups = groups;
  slot->linear = linear;
  if (window) {
    const std::vector<int64_t>& w = *window;
    slot->geometry = kernels::ConvGeometry{w.at(0), w.at(1), w.at(2), w.at(3), w.at(4)};
  }
  return slot;
}

OwnerPtr make_pruner(const std::vector<std::shared_ptr<Slot>>& slots,
                     const std::vector<std::pair<std::string, at::Tensor>>& parameters,
                     const std::map<std::string, std::string>& given, const PlainBlocks& support) {
  PrunerOptions options = options_from(given);
  options.support = blocks_from(support);
  return std::make_shared<PrunerOfSlots>(
      PrunerOfSlots{std::make_unique<Pruner>(network_of(slots, parameters), options), slots});
}

std::vector<PrunedLayer> layers_of(const OwnerPtr& owner) {
  std::vector<PrunedLayer> out;
  for (const prune::Layer& layer : owner->pruner->algorithm().layers()) {
    // Their hook is in the C++ gate, which modules of Python do not pass.
    if (layer.score->sees_gradients()) {
      throw Error(
          hewn::str("score ", owner->pruner->recipe().score, ": works in hewn train and in C++ only"));
    }
    for (const std::shared_ptr<Slot>& slot : owner->slots) {
      if (slot->name == layer.name) out.emplace_back(owner, &layer, slot);
    }
  }
  return out;
}

/// The pruner, whose weights are where they were.
Pruner& in_place(const OwnerPtr& owner) {
  for (const prune::Layer& layer : owner->pruner->algorithm().layers()) check_place(layer, layer.weight.leaf);
  return *owner->pruner;
}

py::list plan_of(const OwnerPtr& owner) {
  py::list out;
  for (const prune::LayerPlan& layer : owner->pruner->plan().layers) {
    py::dict row;
    row["name"] = layer.name;
    row["shape"] = layer.shape;
    row["grid"] = plain(layer.grid);
    row["blocks"] = layer.grid.blocks();
    row["keep"] = layer.keep;
    row["pruned"] = layer.pruned;
    row["why_dense"] = layer.why_dense;
    out.append(row);
  }
  return out;
}

/// What Python's optimisers need to know of the logits and masks.
py::list score_parameters(const OwnerPtr& owner) {
  py::list out;
  const prune::Recipe& recipe = owner->pruner->recipe();
  for (const prune::Layer& layer : owner->pruner->algorithm().layers()) {
    for (const prune::ScoreParameter& parameter : layer.score->parameters()) {
      py::dict row;
      row["layer"] = layer.name;
      row["name"] = parameter.name;
      row["tensor"] = parameter.tensor;
      row["leaf"] = layer.weight.leaf;
      row["l1"] = parameter.l1;
      row["shared_moment"] = recipe.shared_moment;
      out.append(row);
    }
  }
  return out;
}

py::dict recipe_of(const OwnerPtr& owner) {
  const prune::Recipe& recipe = owner->pruner->recipe();
  py::dict out;
  out["name"] = recipe.name;
  out["score"] = recipe.score;
  out["search"] = recipe.search;
  out["schedule"] = recipe.schedule;
  out["logit_lr"] = recipe.logit_lr;
  out["logit_decay"] = recipe.logit_decay ? py::object(py::float_(*recipe.logit_decay)) : py::none();
  out["clip_grad"] = recipe.clip_grad;
  const prune::AttentionClip& clip = recipe.score_options.clip;
  out["clip"] = clip.on;
  out["clip_low"] = clip.low;  // none: density and its inverse
  out["clip_high"] = clip.high;
  out["dense"] = recipe.dense();
  return out;
}

py::list phases_of(const OwnerPtr& owner) {
  py::list out;
  for (const prune::PhaseSpan& span : owner->pruner->algorithm().schedule().phases()) {
    out.append(py::make_tuple(std::string(prune::name_of(span.phase)), span.begin, span.end));
  }
  return out;
}

/// Lets scores that want them see the layers' inputs from the next forward pass on.
void listen(const OwnerPtr& owner, bool on) {
  const prune::Pruner& algorithm = owner->pruner->algorithm();
  for (const prune::Layer& layer : algorithm.layers()) layer.listen(on && algorithm.listens());
}

py::tuple advance(const OwnerPtr& owner, const std::optional<int64_t>& step) {
  Pruner& pruner = in_place(owner);
  const prune::PhaseChange change = step ? pruner.advance(*step) : pruner.advance();
  listen(owner, true);
  return py::make_tuple(std::string(prune::name_of(change.moment.phase)), change.moment.index,
                        change.moment.progress, change.entered, change.reset_optimiser);
}

}  // namespace

void bind_pruner(py::module_& m) {
  py::class_<Slot, std::shared_ptr<Slot>>(m, "Slot")
      .def(py::init(&make_slot), py::arg("name"), py::arg("leaf"), py::arg("groups"), py::arg("linear"),
           py::arg("window"))
      .def_readonly("name", &Slot::name);

  py::class_<PrunedLayer>(m, "PrunedLayer")
      .def_property_readonly("name", [](const PrunedLayer& l) { return l.layer().name; })
      .def_property_readonly("layout",
                             [](const PrunedLayer& l) { return layout_of(l.layer().weight.layout); })
      .def_property_readonly("blocks", [](const PrunedLayer& l) { return l.layer().weight.blocks(); })
      .def_property_readonly("keep", [](const PrunedLayer& l) { return l.layer().weight.keep; })
      .def_property_readonly("support", [](const PrunedLayer& l) { return tensor_or_none(l.support()); })
      .def_property_readonly("leaf", [](const PrunedLayer& l) { return l.layer().weight.leaf; })
      .def_property_readonly("on_blocks", &PrunedLayer::on_blocks)
      .def_property_readonly("takes_part", &PrunedLayer::takes_part)
      .def_property_readonly("listening", &PrunedLayer::listening)
      .def("importance",
           [](const PrunedLayer& l) { return l.layer().score->importance(l.layer().weight).detach(); })
      .def("gated", &PrunedLayer::gated)
      .def("gate", [](const PrunedLayer& l, const at::Tensor& leaf) { return tensor_or_none(l.gate(leaf)); })
      .def("run",
           [](PrunedLayer& l, const at::Tensor& x, const std::optional<at::Tensor>& bias, bool compact) {
             const py::gil_scoped_release release;
             return l.run(x, bias.value_or(at::Tensor()), compact);
           })
      .def("see", &PrunedLayer::see, Release());

  py::class_<PrunerOfSlots, OwnerPtr>(m, "Pruner")
      .def(py::init(&make_pruner), py::arg("slots"), py::arg("parameters"), py::arg("options"),
           py::arg("support"))
      .def("trained_by", [](const OwnerPtr& o, bool adam) { o->pruner->trained_by(adam); })
      .def("layers", &layers_of)
      .def("plan", &plan_of)
      .def("recipe", &recipe_of)
      .def("phases", &phases_of)
      .def("score_parameters", &score_parameters)
      .def("advance", &advance, py::arg("step") = py::none())
      .def("listen", &listen)
      .def("set_execution",
           [](const OwnerPtr& o, const std::string& text) { o->pruner->set_execution(text); })
      .def(
          "remember_dropped", [](const OwnerPtr& o) { in_place(o).remember_dropped(); }, Release())
      .def(
          "restore_dropped", [](const OwnerPtr& o) { in_place(o).restore_dropped(); }, Release())
      .def("finish", [](const OwnerPtr& o) { return plain(in_place(o).finish()); })
      .def("check_finish", [](const OwnerPtr& o) { in_place(o).check_finish(); })
      .def("kept",
           [](const OwnerPtr& o) {
             Blocks blocks;
             for (const prune::Layer& l : o->pruner->algorithm().layers())
               blocks[l.name] = prune::blocks_of(l.weight.layout.grid, l.support);
             return plain(blocks);
           })
      .def("state", [](const OwnerPtr& o) { return o->pruner->state(); })
      .def("load_state", [](const OwnerPtr& o, const std::map<std::string, at::Tensor>& state,
                            int64_t begun) { o->pruner->load_state(state, begun); })
      .def_property_readonly("steps_begun", [](const OwnerPtr& o) { return o->pruner->steps_begun(); });
}

}  // namespace hewn::python

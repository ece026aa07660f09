#include "hewn/runtime/c_api.h"

#include <exception>
#include <string>

#include "hewn/core/c_guard.h"
#include "hewn/core/error.h"
#include "hewn/runtime/model.h"

struct hewn_model {
  hewn::runtime::Model model;
};

namespace {

using hewn::require_pointer;

/// No exception leaves `body`. Returns what it returned, or `failed`.
template <class Result, class Body>
Result guard(Result failed, const Body& body) noexcept {
  return hewn::guard_c(body, [&](const std::exception*) { return failed; });
}

}  // namespace

hewn_model* hewn_model_load(const char* path) {
  return guard<hewn_model*>(nullptr, [&] {
    require_pointer(path, "hewn_model_load", "path");
    return new hewn_model{hewn::runtime::Model::load(path)};
  });
}

hewn_model* hewn_model_copy(const hewn_model* model) {
  return guard<hewn_model*>(nullptr, [&] {
    require_pointer(model, "hewn_model_copy", "model");
    return new hewn_model{model->model};
  });
}

void hewn_model_free(hewn_model* model) { delete model; }

int hewn_model_input_shape(const hewn_model* model, int64_t shape[3]) {
  return guard(-1, [&] {
    require_pointer(model, "hewn_model_input_shape", "model");
    require_pointer(shape, "hewn_model_input_shape", "shape");
    const auto extents = model->model.input_shape();
    for (size_t i = 0; i < extents.size(); ++i) shape[i] = extents[i];
    return 0;
  });
}

int64_t hewn_model_inputs(const hewn_model* model) {
  return guard<int64_t>(-1, [&] {
    require_pointer(model, "hewn_model_inputs", "model");
    return model->model.inputs();
  });
}

int64_t hewn_model_outputs(const hewn_model* model) {
  return guard<int64_t>(-1, [&] {
    require_pointer(model, "hewn_model_outputs", "model");
    return model->model.outputs();
  });
}

int64_t hewn_model_classes(const hewn_model* model) {
  return guard<int64_t>(-1, [&] {
    require_pointer(model, "hewn_model_classes", "model");
    return static_cast<int64_t>(model->model.classes().size());
  });
}

const char* hewn_model_class_name(const hewn_model* model, int64_t i) {
  return guard<const char*>(nullptr, [&] {
    require_pointer(model, "hewn_model_class_name", "model");
    const std::vector<std::string>& names = model->model.classes();
    if (i < 0 || i >= static_cast<int64_t>(names.size())) {
      throw hewn::Error(
          hewn::str("hewn_model_class_name: i: expected 0 to below ", names.size(), ", got ", i));
    }
    return names[static_cast<size_t>(i)].c_str();
  });
}

int hewn_model_set_threads(hewn_model* model, int threads) {
  return guard(-1, [&] {
    require_pointer(model, "hewn_model_set_threads", "model");
    model->model.set_threads(threads);
    return 0;
  });
}

int hewn_model_run(hewn_model* model, const float* input, int64_t batch, float* output) {
  return guard(-1, [&] {
    require_pointer(model, "hewn_model_run", "model");
    if (batch < 0) throw hewn::Error(hewn::str("hewn_model_run: batch: expected 0 or more, got ", batch));
    if (batch == 0) return 0;
    require_pointer(input, "hewn_model_run", "input");
    require_pointer(output, "hewn_model_run", "output");
    model->model.run(input, batch, output);
    return 0;
  });
}

#include <ATen/ops/empty.h>
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include "bindings.h"
#include "hewn/convex/select.h"

namespace py = pybind11;

namespace hewn::python {
namespace {

using namespace convex;  // NOLINT(google-build-using-namespace)

SelectOptions options_from(const py::dict& given) {
  SelectOptions o;
  o.method = given["method"].cast<std::string>();
  o.k = given["k"].cast<int64_t>();
  o.kprime = given["kprime"].cast<int64_t>();
  o.lambda = given["lambda"].cast<std::string>();
  o.path = given["path"].cast<int64_t>();
  o.min_ratio = given["min_ratio"].cast<double>();
  o.cv = given["cv"].cast<int64_t>();
  o.ridge = given["ridge"].cast<std::optional<double>>();
  o.intercept = given["intercept"].cast<bool>();
  o.standardise = given["standardise"].cast<bool>();
  o.group_weights = given["group_weights"].cast<std::string>();
  o.mix = given["mix"].cast<double>();
  o.singles = given["singles"].cast<double>();
  o.tolerance = given["tolerance"].cast<double>();
  o.seed = given["seed"].cast<int64_t>();
  return o;
}

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A matrix as a tensor of doubles, and back.
at::Tensor tensor_of(const Matrix& matrix) {
  at::Tensor out = at::empty({matrix.rows(), matrix.cols()}, at::kDouble);
  Eigen::Map<RowMajor>(out.data_ptr<double>(), matrix.rows(), matrix.cols()) = matrix;
  return out;
}

Matrix matrix_of(const at::Tensor& tensor) {
  const at::Tensor values = tensor.to(at::kDouble).contiguous();
  return Eigen::Map<const RowMajor>(values.data_ptr<double>(), values.size(0), values.size(1));
}

py::dict certificate_of(const Solution& solution) {
  py::dict out;
  out["verdict"] = std::string(name_of(solution.certificate.verdict));
  out["kkt"] = solution.certificate.kkt;
  out["gap"] = solution.certificate.gap;
  out["converged"] = solution.converged;
  return out;
}

py::list path_of(const Selection& selection) {
  py::list out;
  if (!selection.path) return out;
  for (const Solution& solution : selection.path->solutions) {
    py::dict row = certificate_of(solution);
    row["lambda"] = solution.lambda;
    row["loss"] = solution.loss;
    row["objective"] = solution.objective;
    row["groups"] = solution.support;
    row["coefficients"] = tensor_of(solution.coefficients(selection.problem.groups));
    row["intercept"] = tensor_of(solution.intercept);
    out.append(row);
  }
  return out;
}

/// `labels` has a group's name for every feature; none: each is a group of its own.
py::dict select_groups(const at::Tensor& x, const at::Tensor& y, const std::string& task,
                       const std::vector<std::string>& labels, const std::optional<at::Tensor>& sample_weight,
                       const py::dict& given) {
  const SelectOptions options = options_from(given);
  Selection selection;
  {
    const py::gil_scoped_release release;
    Dataset data;
    data.problem.x = dense_design(matrix_of(x));
    data.problem.y = matrix_of(y);
    data.problem.loss = &find_loss(task);
    if (sample_weight) data.problem.sample_weight = matrix_of(*sample_weight).col(0);
    data.task = task;
    data.sources = labels;
    for (Index j = 0; j < x.size(1); ++j) data.features.push_back(std::to_string(j));
    for (Index k = 0; k < y.size(1); ++k) data.outputs.push_back(std::to_string(k));
    data.problem.groups = Groups::features(x.size(1), y.size(1));
    selection = select(data, options, nullptr);
  }
  py::dict out;
  out["coefficients"] = tensor_of(selection.solution.coefficients(selection.problem.groups));
  out["intercept"] = tensor_of(selection.solution.intercept);
  out["selected"] = selection.selected;
  out["losses"] = selection.losses;
  out["tau"] = selection.tau;
  out["lambda"] = selection.solution.lambda;
  out["loss"] = selection.solution.loss;
  out["names"] = selection.group_names;
  out["certificate"] = certificate_of(selection.solution);
  out["path"] = path_of(selection);
  if (selection.cv) out["cv"] = py::make_tuple(selection.cv->mean, selection.cv->error, selection.cv->best);
  return out;
}

}  // namespace

void bind_convex(py::module_& m) { m.def("select_groups", &select_groups); }

}  // namespace hewn::python

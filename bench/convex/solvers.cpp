// CPU time of whole paths on problems given as NPY-like raw files; see run.py.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "hewn/convex/path.h"

using namespace hewn::convex;

namespace {
double cpu() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}
Matrix load(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  int64_t d[2];
  in.read(reinterpret_cast<char*>(d), 16);
  Matrix out(d[0], d[1]);
  in.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size() * 8));
  return out;
}
}  // namespace

int main(int argc, char** argv) {
  const std::string base = argv[1];
  Problem p;
  p.x = dense_design(load(base + ".x"));
  p.y = load(base + ".y");
  p.loss = &find_loss(argv[2]);
  const Index size = std::stol(argv[3]);
  std::vector<Index> sizes(to_size(p.x->cols() / size), size);
  p.groups = Groups::sizes(sizes, p.y.cols());
  p.groups.set_weights(Vector::Constant(p.groups.count(), std::sqrt(static_cast<double>(size))));
  Options o;
  o.tolerance = std::stod(argv[4]);
  if (argc > 6 && std::string(argv[6]) == "residual") o.mode = Mode::kResidual;
  if (argc > 6 && std::string(argv[6]) == "noscreen") o.screen = false;
  if (argc > 6 && std::string(argv[6]) == "noanderson") o.anderson = 0;
  if (argc > 6 && std::string(argv[6]) == "newton") o.curvature = Curvature::kNewton;
  PathOptions path;
  path.min_ratio = std::stod(argv[5]);
  const double t = cpu();
  const Path r = solve_path(p, Penalty(), o, path);
  const double s = cpu() - t;
  int sweeps = 0;
  double kkt = 0;
  for (const auto& x : r.solutions) sweeps += x.sweeps, kkt = std::max(kkt, x.certificate.kkt);
  std::printf("cpu %.3f tau %.6f last objective %.10f loss %.8f support %zu kkt %.2e gap %.2e sweeps %d\n", s, r.tau, r.solutions.back().objective,
              r.solutions.back().loss, r.solutions.back().support.size(), kkt, r.solutions.back().certificate.gap, sweeps);
}

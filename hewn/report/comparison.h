#pragma once

#include <string>
#include <vector>

#include "hewn/core/json.h"
#include "hewn/report/outcomes.h"

namespace hewn::report {

/// Means and standard deviations over seeds, and who wins where: {"metrics": [...], "cells": [...],
/// "dense": [...], "winners": [...]}. A seed counts once.
Json compare_outcomes(const std::vector<Outcome>& outcomes);

}  // namespace hewn::report

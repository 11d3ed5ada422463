// The cases that a step is tested with: the one generator behind ./workbook check, the graded tests and the budgets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "judge/case.h"
#include "judge/labs.h"

namespace lab {

enum class CaseSet {
  quick,   ///< some of the public cases, for a first look
  graded,  ///< all public cases: sizes around every boundary, every input, type and order, launch shapes
  large,   ///< n above 2^32, where the types allow it
  check,   ///< cases for the check build, which is slow: few keys, several orders of lanes
  budget   ///< the case whose costs are compared with the budget
};

enum class Build { check, cpu, cuda };

/// Throw lab::Error, with the names that exist, for any other.
CaseSet case_set_named(std::string_view name);
Build build_named(std::string_view name);

/// Cases that test the same property.
struct CaseGroup {
  std::string what;
  std::vector<Case> cases;
};

/// The cases of one line of a lab's table; groups without cases are left out. The same arguments give the same cases.
std::vector<CaseGroup> cases_of(const Lab& lab, const StepFacts& step, CaseSet set, std::uint64_t seed, Build build);

}  // namespace lab

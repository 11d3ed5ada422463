// The processes that a step has started, and those that these have started, in whatever process group or session. What
// a runner leaves behind becomes a child of the judge (PR_SET_CHILD_SUBREAPER), so that the judge finds it.
#pragma once

#include <sys/types.h>

namespace lab {

/// From now on, this child of the judge counts as a runner, and not as something that a runner has left behind.
void runner_started(pid_t runner);

/// To be called when a runner has ended and has been waited for. Ends the processes that it has left behind.
void runner_ended(pid_t runner);

/// Whether the step in `kept`, a process that `runner` is or has started, has started others.
bool has_started_others(pid_t runner, pid_t kept);

/// Ends what the step has started.
void end_started_by_step(pid_t runner, pid_t kept);

}  // namespace lab

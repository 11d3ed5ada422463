// The processes that a step has started, and those that these have started, whatever their group or session is. What a
// runner leaves behind becomes a child of the judge (PR_SET_CHILD_SUBREAPER), so that it is found.
#pragma once

#include <sys/types.h>

namespace lab {

/// From now on, this child of ours is a runner, and not what one has left behind.
void runner_started(pid_t runner);

/// It has ended, and has been waited for: ends what is left of it.
void runner_ended(pid_t runner);

/// Whether the step in `kept`, a process that `runner` is or has started, has started others.
bool has_started_others(pid_t runner, pid_t kept);

/// Ends what the step has started.
void end_started_by_step(pid_t runner, pid_t kept);

}  // namespace lab

#include "runner/runner.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>

#include "runner/channel.h"
#include "runner/describe.h"
#include "runner/fair_start.h"
#include "runner/host_images.h"
#include "runner/protocol.h"
#include "runner/sort.h"
#include "step/error.h"
#ifdef SIMT_CHECK
#include <simt/observed.h>
#endif

namespace lab {
namespace {

void serve(std::span<const Step> steps, const Request& request, SharedMemory& memory) {
  static const bool ready = (keep_freed_memory(), true);
  static_cast<void>(ready);
  if (request.command == Command::sort) return serve_sort(steps, request, memory);
  if (request.command != Command::describe) throw Error("the judge sent an unexpected command");
  send_document(describe(steps, request.measure_bandwidth != 0));
  send(Progress::finished);
}

// After NotWritten and Unsupported, the process continues. After any other error, the device or the program may be in a
// bad state, and the judge starts another process.
bool serve_or_report(std::span<const Step> steps, const Request& request, SharedMemory& memory) {
  try {
    serve(steps, request, memory);
    return true;
  } catch (const NotWritten& error) {
    finish(Status::not_written, 0, error.what());
    return true;
  } catch (const Unsupported& error) {
    finish(Status::unsupported, 0, error.what());
    return true;
  } catch (const TooMuchMemory& error) {
    finish(Status::wrong, 0, error.what());
    return true;
  } catch (const CudaError& error) {
    finish(Status::cuda_error, 0, error.what());
  } catch (const StepFailed& error) {
    finish(Status::cuda_error, 0, error.what());
  } catch (const HostWorked& error) {
    finish(Status::refused, 0, error.what());
  } catch (const std::exception& error) {
    finish(Status::crashed, 0, fmt::format("the step threw: {}", error.what()));
  }
  return false;
}

int explain(const char* lab, std::span<const Step> steps) {
  std::printf("This is the runner of %s. The judge drives it. Its steps:\n", lab);
  for (const Step& step : steps) std::printf("  %02d %-10s %s\n", step.number, step.name, step.idea);
  std::printf("To run one of them: ./workbook run LAB STEP\n");
  return 2;
}

// The check build ends the process when a kernel hangs or a finding leaves nothing to go on with.
void send_findings_at_the_end() {
#ifdef SIMT_CHECK
  simt::check::send_findings_to([](const std::string& findings) { send_document("{\"observed\":" + findings + "}"); });
#endif
}

}  // namespace

int run_steps(const char* lab, std::span<const Step> steps, int argc, char** argv) {
  if (argc != 2 || std::strcmp(argv[1], judge_argument) != 0) return explain(lab, steps);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what a step printed before a crash must not be lost
  send_findings_at_the_end();
  SharedMemory memory;
  Request request;
  while (receive(request)) {
    if (!serve_or_report(steps, request, memory)) return 1;
  }
  return 0;
}

}  // namespace lab

"""The profile of a GPU: what Nsight Compute prints, read."""

from __future__ import annotations

import csv
import io
import unittest

from workbook.core import profiles
from workbook.core.console import Usage
from workbook.core.judge_types import Case, Outcome
from workbook.verbs import profile

# One launch as ncu 2025.3 reported it on an H200: counts with their instances, some of which name instructions.
REPORTED = {
    "ID": "0",
    "Process ID": "1037",
    "Kernel Name": "histogram_kernel",
    "Block Size": "(512, 1, 1)",
    "Grid Size": "(2, 1, 1)",
    "smsp__inst_executed_op_shared_ld.sum": "16",
    "smsp__inst_executed_op_shared_st.sum": "16",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": "16",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": "16",
    "smsp__inst_executed_op_shared_atom.sum": "2,048",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "128",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "2,048",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": "0",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": "0",
    "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum": "12",
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum": "4",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum": "96",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum": "32",
    "gpu__time_duration.sum": "6,720",
    "launch__registers_per_thread": "26",
    "launch__shared_mem_per_block_static": "0",
    "launch__shared_mem_per_block_dynamic": "1,024",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "24.95",
    "memory_l1_wavefronts_shared_ideal": "2,080 (100000: 16; 100001: 2,064)",
    "memory_l2_theoretical_sectors_global_ideal": "2,176 (100002: 2,176)",
    "sass__inst_executed_per_opcode": "9,000 (ISETP: 5,000; BRA: 3,904; BAR: 96)",
}


def printed(*launches: dict[str, str]) -> str:
    """As ncu prints them: its own lines and the program's, the names, the units, and a line per launch."""
    text = io.StringIO()
    text.write("==PROF== Connected to process 1037\nverified; 12 ms\n")
    writer = csv.DictWriter(text, list(REPORTED), quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writeheader()
    writer.writerow({name: "ns" if "time" in name else "" for name in REPORTED})
    for launch in launches:
        writer.writerow(launch)
    return text.getvalue() + "==PROF== Disconnected from process 1037\n"


class Judged(unittest.TestCase):
    """What the judge refuses."""

    def test_what_a_step_cannot_do(self) -> None:
        with self.assertRaisesRegex(Usage, "^unsupported: n is 9; step 1 would take too long beyond 8$"):
            profiles._check_outcome(
                Outcome("unsupported", False, Case("a", 1, 9), "n is 9; step 1 would take too long beyond 8")
            )
        with self.assertRaisesRegex(Usage, "^labs/a.cu:9: step 01 is not written yet$"):
            profiles._check_outcome(
                Outcome("not-written", False, Case("a", 1, 9), "labs/a.cu:9: step 01 is not written yet")
            )


class Ncu(unittest.TestCase):
    """What becomes of ncu's output."""

    def test_a_launch_is_read(self) -> None:
        (launch,) = profiles.read_ncu(printed(REPORTED))
        self.assertEqual(
            (launch["kernel"], launch["grid"], launch["block"]), ("histogram_kernel", [2, 1, 1], [512, 1, 1])
        )
        self.assertEqual((launch["time_ns"], launch["registers"], launch["dynamic_shared_bytes"]), (6720, 26, 1024))
        self.assertEqual((launch["global_atomic_requests"], launch["global_atomic_sectors"]), (16, 128))
        self.assertEqual(launch["barriers"], 96)
        self.assertEqual(launch["shared_ideal_wavefronts"], 32)  # without the atomic ones, as the check build counts

    def test_missing_metrics_are_left_out(self) -> None:
        (launch,) = profiles.read_ncu(
            printed(
                {
                    **REPORTED,
                    "sass__inst_executed_per_opcode": "9,000 (0: 5,000; 1: 4,000)",
                    "memory_l1_wavefronts_shared_ideal": "n/a",
                }
            )
        )
        self.assertNotIn("barriers", launch)
        self.assertNotIn("shared_ideal_wavefronts", launch)
        self.assertIn("  barriers        not reported by this ncu", profile.lines_of([launch], "ncu"))
        self.assertEqual(profiles.read_ncu("==ERROR== ERR_NVGPUCTRPERM\n"), [])

    def test_the_table_adds_launches_and_fits_80_columns(self) -> None:
        lines = profile.lines_of(profiles.read_ncu(printed(REPORTED, {**REPORTED, "ID": "1"})), "ncu")
        self.assertEqual(lines[0], "histogram_kernel   2 launches of <<<2, 512>>>")
        self.assertIn("  barriers        3 per block", lines)
        self.assertIn("  shared atomics  4,096 requests", lines)
        self.assertIn("  global atomics  32 requests, 256 sectors: 8.00 each, 8 KiB", lines)
        self.assertIn("    ideal         4,352 sectors, 136 KiB: 100 % of the bytes moved are used", lines)
        self.assertEqual([line for line in lines if len(line) > 80], [])

    def test_the_driver_and_the_configuration_share_the_shared_memory(self) -> None:
        (launch,) = profiles.read_ncu(printed(REPORTED))
        self.assertNotIn("  driver", "\n".join(profile.lines_of([launch], "ncu")))  # an ncu that does not report it
        launch.update(driver_shared_bytes=1024.0, configured_shared_bytes=65536.0)
        lines = profile.lines_of([launch], "ncu")
        self.assertIn("    driver        1 KiB per block", lines)
        self.assertIn("    configured    64 KiB per multiprocessor", lines)
        for metric in ("launch__shared_mem_per_block_driver", "launch__shared_mem_config_size"):
            self.assertIn(metric, profiles.FACTS.values())


if __name__ == "__main__":
    unittest.main()

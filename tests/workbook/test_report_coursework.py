"""A report on counting sort has every table and plot that such coursework is expected to have."""

import re
from typing import Any

from in_folder import InFolder
from report_data import PLOTS, report_of, row, step

from workbook.core.rows import Row, distinct
from workbook.reporting import compose, parts, plot
from workbook.reporting.article import to_article
from workbook.reporting.page import to_page


class Coursework(InFolder):
    """A report on counting sort has every table and plot that such a report is expected to have."""

    SHAPES = ((0, 0), (1, 32), (1, 256), (4, 256), (16, 16), (64, 64), (256, 256), (1024, 1024))
    SIZES = (1000, 10000, 100000)

    def recorded(self, build: str, machine_id: str, machine: str) -> list[Row]:
        """Rows as the sweeps of a report write them."""

        def one(name: str = "shared", step: int = 2, **values: Any) -> Row:
            usual: dict[str, Any] = {
                "lab": "04-counting",
                "step": step,
                "name": name,
                "type": "u8",
                "build": build,
                "machine_id": machine_id,
                "machine": machine,
                "keys_per_s": float(values.get("n", 1024) * 2000),
                "median_ms": 0.5,
            }
            return row(**{**usual, **values})

        found = []
        for n in (1024, 4096, 16384):
            found += [
                one(n=n),
                one("parallel", 3, n=n, keys_per_s=float(n * 5000)),
                one(n=n, kernel="to device"),
                one(n=n, kernel="to host"),
                one("histogram", 2, n=n, task="histogram"),
                one("vqsort" if build == "cpu" else "radix", 6, lab="gold", n=n, keys_per_s=float(n * 4000)),
            ]
        for n in self.SIZES:
            for shape in self.SHAPES:
                blocks, threads = shape
                for name, number, kernels in (
                    ("shared", 2, ("histogram", "scan", "move")),
                    ("parallel", 3, ("count", "place")),
                ):
                    launch = {"n": n, "blocks": blocks, "threads": threads}
                    found += [
                        one(name, number, **launch),
                        *(
                            one(
                                name,
                                number,
                                **launch,
                                kernel=kernel,
                                launches=1,
                                grid=blocks,
                                block=threads,
                                dynamic_shared=1024,
                                static_shared=2048,
                                registers=24,
                            )
                            for kernel in kernels
                        ),
                    ]
        for blocks in (1, 16, 256):
            found += [one(n=4096, blocks=blocks, threads=threads) for threads in (32, 256, 1024)]
        found += [
            one("range", 4, type="u32", input=f"range:0:{2**bits - 1}", keys_per_s=float(1e9 / bits))
            for bits in (4, 8, 16, 24)
        ]
        found += [
            one("range", 4, type="u32", n=n, input=f"range:0:{2**bits - 1}") for n in self.SIZES for bits in (4, 16, 24)
        ]
        found += [
            one("range", 4, type="u32", n=4096, input=f"range:0:{2**bits - 1}", blocks=blocks, threads=threads)
            for bits in (4, 16)
            for blocks, threads in ((1, 32), (64, 64))
        ]
        found += [
            one(name, step, input=kind)
            for name, step in (("shared", 2), ("parallel", 3))
            for kind in ("sorted", "all-equal", "and-5", "and-2")
        ]
        return distinct(found)

    def test_each_table_and_plot_is_there(self) -> None:
        lab = "04-counting"
        steps = [
            step(number, name, types=("u8", "u32")) for number, name in ((2, "shared"), (3, "parallel"), (4, "range"))
        ]
        device = [
            ("device", "NVIDIA A"),
            ("compute capability", "9.0"),
            ("global memory, bytes", "150000000000"),
            ("shared memory per block, bytes", "49152"),
            ("constant memory, bytes", "65536"),
            ("registers per block", "65536"),
            ("threads per block, at most", "1024 (1024 x 1024 x 64)"),
            ("multiprocessors", "132"),
        ]
        own = self.recorded("cuda", "a", "NVIDIA A, compute capability 9.0; AMD EPYC, 2 cores, 24 GiB") + [
            gold for gold in self.recorded("cpu", "a", "AMD EPYC, 2 cores, 24 GiB") if gold.is_gold
        ]
        other = [("b", self.recorded("cuda", "b", "NVIDIA B, compute capability 8.0; Intel, 8 cores, 16 GiB"))]
        (self.folder / "plots").mkdir()
        report = report_of(
            own,
            self.folder,
            "cuda",
            lab=lab,
            steps=steps,
            device=device,
            others=other,
            plots=plot.available(),
        )
        made = parts.make(report)
        tables = parts.appendix(report)
        text = compose.compose(lab, "Lab", made, None)
        plots = {path.stem for path in (self.folder / "plots").iterdir()}
        whole = text + tables
        page, article = to_page(whole, "Lab", self.folder, []), to_article(whole, "Lab", self.folder)[0]

        for heading in (
            "Statement",
            "Hardware and software",
            "Program",
            "Time and speed against n",
            "Where the time goes",
            "Profile",
            "Speed against the launch shape",
            "Speed against the input",
            "Speed against the value range",
            "Copies to the device and back",
            "GPU against CPU",
            "Several machines",
            "Conclusions",
        ):
            self.assertRegex(text, f"(?m)^##+ {heading}$")
        # Hardware: the card, its memories and limits, the processor, the system.
        for what in (
            "GPU | NVIDIA A",
            "compute capability | 9.0",
            "global memory",
            "shared memory per block",
            "constant memory",
            "registers per block",
            "threads per block",
            "multiprocessors | 132",
            "processor |",
            "cores |",
            "memory |",
            "system |",
        ):
            self.assertIn(f"| {what}", made["machine"])
        # Each step's and each kernel's time: a table per size, a line per kernel, a column per launch shape.
        shapes = "".join(f" &lt;&lt;&lt;{blocks}, {threads}&gt;&gt;&gt; |" for blocks, threads in self.SHAPES[1:])
        self.assertEqual(tables.count(f"| step, kernel | the step's choice |{shapes}\n"), len(self.SIZES))
        for name in (
            "**02 shared**",
            "02 shared, `histogram`",
            "02 shared, `scan`",
            "02 shared, `move`",
            "**03 parallel**",
            "03 parallel, `count`",
            "03 parallel, `place`",
        ):
            self.assertEqual(tables.count(f"| {name} |{' 0.500 |' * len(self.SHAPES)}\n"), len(self.SIZES), name)
        for n in self.SIZES:
            self.assertIn(f"for n = {n:,}", tables)
        self.assertEqual(tables.count("<details>"), tables.count("</details>"))
        self.assertIn("| best shape, ms | n = 1,000 | n = 10,000 | n = 100,000 |", made["shapes"])
        # Shared memory and registers of each kernel.
        self.assertRegex(made["profile"], r"\| `move` \|.*\| 2048 \| 1024 \| 24 \|")
        # The best of both, and two cards.
        for name in ("NVIDIA A", "VQSort"):
            self.assertIn(name, made["processors"])
        for name in ("NVIDIA A", "NVIDIA B"):
            self.assertIn(f"| {name} |", made["machines"])
            self.assertRegex(
                tables, rf"(?m)^\| 02 shared, 100,000 u8 keys, {name} \|{' 0.500 [|]' * len(self.SHAPES[1:])}$"
            )
        # Largest values, and inputs by entropy.
        self.assertEqual(re.findall(r"(?m)^\| ([\d,]+) \|", made["ranges"]), ["15", "255", "65,535", "16,777,215"])
        self.assertIn("| launch shape | 0 to 15 | 0 to 65,535 |", made["ranges"])
        self.assertIn("| &lt;&lt;&lt;64, 64&gt;&gt;&gt; | 0.500 | 0.500 |", made["ranges"])
        self.assertIn("| &lt;&lt;&lt;64, 64&gt;&gt;&gt;, 65,535 | 0.500 | 0.500 |", tables)
        self.assertEqual(
            re.findall(r"(?m)^\| ([a-z]+[\w-]*) \|", made["inputs"])[1:],
            ["uniform", "and-2", "and-5", "all-equal", "sorted"],
        )
        self.assertIn("| and-2 | 6.49 |", made["inputs"])
        self.assertEqual(
            len(re.findall("<table[ >]", page)), len(re.findall(r"\\begin\{(?:tabular|longtable)\}", article))
        )
        if plot.available():
            self.assertLessEqual({*PLOTS, "range-lines", "machine-shapes"}, plots)

"""Traffic, time and compile time of layers at their real sizes, for docs/measurements/layers.md.

    python3 test/exports/export_layers.py DIR
    python3 benches/layers.py TOOL DIR/*.mlir

TOOL is a release build of spyre-compile. Prints a table in Markdown.
"""

import collections
import json
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

MIB = 1 << 20

# Reasons of the report, and their names in the table.
REASONS = [
    (r"restickify|relayout copy", "layouts"),
    (r"would advance with a loop", "advances with a loop"),
    (r"uses only a part", "windows and slices"),
    (r"runs on \d+ cores|slices it differently", "other slices"),
    (r"cannot access LX", "function"),
    (r"splits a reduction", "split sum"),
]


def reason_of(value):
    text = value.get("why", "")
    return next((name for pattern, name in REASONS if re.search(pattern, text)), "others")


def compile_layer(tool, path):
    """Returns the report of a compilation, and the CPU time in seconds of one without a report.

    For the report the search runs again, with more LX."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [tool, path, "-q", "--validate=off", "-o", Path(folder) / "out"]
        subprocess.run([*command, "--report", report], check=True, stderr=subprocess.DEVNULL)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return json.loads(report.read_text()), seconds


def print_row(name, report, seconds):
    traffic = report["total"]["hbm_read"] + report["total"]["hbm_written"]
    bound = report["lower_bound"]
    time = report["time"]["estimate_us"]
    above = collections.Counter()
    for value in report["explain"]["hbm"]:
        above[reason_of(value)] += max(0, value["hbm_read"] + value["hbm_written"] - value["needed"])
    largest = [f"{reason} {amount / MIB:.1f}" for reason, amount in above.most_common(3) if amount > 0.05 * MIB]
    print(f"| {name} | {len(report['ops'])} | {traffic / MIB:.1f} | {bound['hbm'] / MIB:.1f} "
          f"| {traffic / bound['hbm']:.2f} | {time:.0f} | {bound['us']:.0f} | {time / bound['us']:.2f} "
          f"| {', '.join(largest) or 'none'} | {seconds:.1f} |", flush=True)


def main(tool, *paths):
    print("| layer | ops | HBM MiB | bound | ratio | us | bound | ratio | MiB above the bound, by reason | CPU s |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|---|--:|")
    for path in paths:
        print_row(Path(path).stem, *compile_layer(tool, path))


if __name__ == "__main__":
    main(*sys.argv[1:])

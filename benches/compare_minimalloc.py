#!/usr/bin/env python3
"""Times `spyre-plan` against google/minimalloc on the public instances, alternating, each as a whole process.

    cargo build --release --bin spyre-plan
    python3 benches/compare_minimalloc.py PATH/TO/minimalloc [--runs 5] [--instances FOLDER]

Prints the medians, the ratio per case and the geometric mean. Every packing of either side is checked: all buffers, inside the capacity,
none overlapping. A case that minimalloc does not answer inside `--timeout` seconds counts with that time. Without a binary (`-`) the
published medians of `memory-planning.md` section 2 stand in, which were measured on another day: a rough guide, no result.
"""

import argparse
import csv
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

PUBLISHED = dict(A=4.44, B=3.45, C=0.74, D=2.29, E=3.62, F=6.00, G=1.27, H=1.95, I=3.61, J=0.93, K=0.74)
CAPACITY = 1048576


def timed(command, timeout=None):
    """Returns the wall time in seconds, and the finished process; None as process if it took longer than `timeout`."""
    started = time.perf_counter()
    try:
        run = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        run = None
    return time.perf_counter() - started, run


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def wrong(buffers, offsets):
    """Returns the first error of a packing, with the names of the buffers; None if the packing is valid."""
    if set(offsets) != {row["id"] for row in buffers}:
        return f"{len(offsets)} of {len(buffers)} buffers have an offset"
    placed = []
    for row in buffers:
        lower, upper, size, offset = int(row["lower"]), int(row["upper"]), int(row["size"]), int(offsets[row["id"]])
        if offset < 0 or offset + size > CAPACITY:
            return f"'{row['id']}' is outside"
        for other, (lower2, upper2, size2, offset2) in placed:
            if lower < upper2 and lower2 < upper and offset < offset2 + size2 and offset2 < offset + size:
                return f"'{row['id']}' and '{other}' overlap"
        placed.append((row["id"], (lower, upper, size, offset)))
    return None


def peer_seconds(binary, file, folder, timeout):
    """Returns the seconds of minimalloc; at least the timeout if it found no packing."""
    output = folder / "minimalloc.csv"
    output.unlink(missing_ok=True)
    seconds, run = timed([binary, f"--capacity={CAPACITY}", f"--input={file}", f"--output={output}", f"--timeout={timeout}s"], 2 * timeout)
    if run is None or not output.exists() or output.stat().st_size == 0:
        return max(seconds, timeout)
    found = {row["id"]: row["offset"] for row in rows(output) if row.get("offset")}
    mistake = wrong(rows(file), found)
    if run.returncode != 0 or mistake:
        sys.exit(f"minimalloc on {file.name}: {mistake or run.stderr}")
    return seconds


def our_seconds(binary, file, folder):
    output = folder / "spyre-plan.json"
    seconds, _ = timed([binary, file, "--capacity", CAPACITY])
    # The output is checked in another run, because minimalloc writes less output.
    _, run = timed([binary, file, "--capacity", CAPACITY, "-o", output])
    if run.returncode != 0:
        sys.exit(f"spyre-plan on {file.name}: {run.stdout}{run.stderr}")
    found = json.loads(output.read_text())["addresses"]
    mistake = wrong(rows(file), {name: address for name, address in found.items() if address is not None})
    if mistake:
        sys.exit(f"spyre-plan on {file.name}: {mistake}")
    return seconds


def main():
    project = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("minimalloc", help="the binary, or '-' for the published medians")
    parser.add_argument("--spyre-plan", default=project / "target/release/spyre-plan")
    parser.add_argument("--instances", type=pathlib.Path, default=project.parent / "shared/planner/minimalloc")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--timeout", type=int, default=60, help="seconds for a run of minimalloc")
    arguments = parser.parse_args()
    files = sorted(arguments.instances.glob("*.csv"))
    if not files:
        sys.exit(f"no instances in {arguments.instances}")
    ratios = []
    print(f"{'case':<12}{'minimalloc s':>14}{'spyre-plan s':>14}{'ratio':>9}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for file in files:
            ours, theirs = [], []
            for _ in range(arguments.runs):
                if arguments.minimalloc != "-":
                    theirs.append(peer_seconds(arguments.minimalloc, file, folder, arguments.timeout))
                ours.append(our_seconds(arguments.spyre_plan, file, folder))
            case = file.name.split(".")[0]
            peer = statistics.median(theirs) if theirs else PUBLISHED.get(case)
            if peer is None:
                sys.exit(f"no published figure for {case}")
            mine = statistics.median(ours)
            ratios.append(peer / mine)
            late = " (no answer)" if theirs and peer >= arguments.timeout else ""
            print(f"{case:<12}{peer:>14.4f}{mine:>14.4f}{ratios[-1]:>9.1f}{late}", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean {mean:.1f}, least {min(ratios):.1f}, {arguments.runs} runs each")


if __name__ == "__main__":
    main()

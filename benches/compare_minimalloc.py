#!/usr/bin/env python3
"""Times `spyre-plan` against google/minimalloc on the public instances, alternating, each as a whole process.

    cargo build --release --bin spyre-plan
    python3 benches/compare_minimalloc.py PATH/TO/minimalloc [--runs 5] [--instances FOLDER]

Prints the medians, the ratio per case and the geometric mean. Without a binary (`-`) the published medians of
`memory-planning.md` section 2 stand in, which were measured on another day: a rough guide, no result.
"""

import argparse
import math
import pathlib
import statistics
import subprocess
import sys
import time

PUBLISHED = dict(A=4.44, B=3.45, C=0.74, D=2.29, E=3.62, F=6.00, G=1.27, H=1.95, I=3.61, J=0.93, K=0.74)
CAPACITY = 1048576


def timed(command):
    started = time.perf_counter()
    run = subprocess.run(command, capture_output=True, text=True)
    return time.perf_counter() - started, run


def main():
    project = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("minimalloc", help="the binary, or '-' for the published medians")
    parser.add_argument("--spyre-plan", default=project / "target/release/spyre-plan")
    parser.add_argument("--instances", type=pathlib.Path, default=project.parent / "shared/planner/minimalloc")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    files = sorted(arguments.instances.glob("*.csv"))
    if not files:
        sys.exit(f"no instances in {arguments.instances}")
    ratios = []
    print(f"{'case':<12}{'minimalloc s':>14}{'spyre-plan s':>14}{'ratio':>9}")
    for file in files:
        ours, theirs = [], []
        for _ in range(arguments.runs):
            if arguments.minimalloc != "-":
                seconds, run = timed([arguments.minimalloc, f"--capacity={CAPACITY}", f"--input={file}", "--output=/dev/null"])
                if run.returncode != 0:
                    sys.exit(f"minimalloc on {file.name}: {run.stderr}")
                theirs.append(seconds)
            seconds, run = timed([arguments.spyre_plan, file, "--capacity", str(CAPACITY)])
            placed = run.stdout.split(" buffers in LX")[0].split(" of ")
            if run.returncode != 0 or len(placed) != 2 or placed[0] != placed[1]:
                sys.exit(f"spyre-plan on {file.name}: {run.stdout}{run.stderr}")
            ours.append(seconds)
        case = file.name.split(".")[0]
        peer = statistics.median(theirs) if theirs else PUBLISHED.get(case)
        if peer is None:
            sys.exit(f"no published figure for {case}")
        mine = statistics.median(ours)
        ratios.append(peer / mine)
        print(f"{case:<12}{peer:>14.4f}{mine:>14.4f}{ratios[-1]:>9.1f}", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean {mean:.1f}, least {min(ratios):.1f}, {arguments.runs} runs each")


if __name__ == "__main__":
    main()

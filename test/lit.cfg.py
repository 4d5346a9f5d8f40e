# LLVM's lit on this folder. `cargo test --test lit` runs it; alone: `SPYRE_TOOLS=target/debug lit test`.
import os
import lit.formats

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
tools = os.environ.get("SPYRE_TOOLS", os.path.join(root, "target", "debug"))
llvm = os.path.join(os.environ.get("MLIR_SYS_220_PREFIX", "/usr/lib/llvm-22"), "bin")

config.name = "spyre"
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir"]
# test/pipeline.rs compares the pages of test/pipeline.
config.excludes = ["Inputs", "golden", "pipeline"]
config.test_source_root = os.path.join(root, "test")
config.test_exec_root = os.environ.get("SPYRE_LIT_OUTPUT", os.path.join(root, "target", "lit"))
config.environment["PATH"] = os.pathsep.join([os.path.abspath(tools), llvm, config.environment["PATH"]])
# `cargo xtask test` detects uses of freed memory with the first. `cargo xtask mutate-passes` mutates and traces lines
# with the others.
for name in ["MALLOC_PERTURB_", "SPYRE_MUTANT", "SPYRE_REACHED"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]
# With `SPYRE_ROUNDTRIP=1` every test also checks the printers and parsers.
if os.environ.get("SPYRE_ROUNDTRIP"):
    config.substitutions.append((r"\bspyre-opt ", "spyre-opt --verify-roundtrip "))
# In a debug build, validation takes many times longer than compilation. `test/validate` tests the default, and
# `test/validated.rs` validates the programs that the other tests compile.
config.substitutions.append((r"(?<![-\w])spyre-compile (?![^|&>]*--validate)", "spyre-compile --validate=off "))
# The simulator has no `unsafe` code, and filling its allocations takes half of its time.
config.substitutions.append((r"(?<![-\w/])spyre-run ", "env MALLOC_PERTURB_=0 spyre-run "))

"""Output other than results: progress lines, and the tables of `explain`."""

import io
import os
import signal
import threading
import time

import pytest
from test_program import SOFTMAX, start_interrupted

import spyre_mlir
from spyre_mlir import _progress, explanation


def test_explains_last_compilations(monkeypatch, capsys):
    monkeypatch.setattr(explanation, "_recent", explanation.collections.deque(maxlen=explanation.MAX_COMPILATIONS))
    spyre_mlir.explain()
    assert "nothing was compiled" in capsys.readouterr().out
    program = spyre_mlir.compile(SOFTMAX)
    # MLIR programs are explained on request only.
    assert capsys.readouterr() == ("", "")
    program.explain()
    own = capsys.readouterr().out
    for word in ("softmax: 6 ops in 1 part, 0 on CPU", "modeled", "bound", "module", "functions", "HBM", "time"):
        assert word in own, word
    spyre_mlir.explain()
    assert capsys.readouterr().out == own
    spyre_mlir.compile(SOFTMAX)
    file = io.StringIO()
    spyre_mlir.explain(file)
    assert file.getvalue().count("softmax: 6 ops") == 2


def test_groups_reasons_with_counts_and_lines():
    cpu_ops = [
        explanation.CpuOp("aten.exp.default(f32[8])", f"/m/model.py:{line}", f"no {line}x64 here") for line in range(5)
    ]
    cpu_ops += [explanation.CpuOp("aten.log.default(f32[8])", "/m/model.py:9", "other")]
    assert explanation.group_by_reason(cpu_ops) == [
        "  5 x no 0x64 here [aten.exp; /m/model.py:0, /m/model.py:1, /m/model.py:2 and 2 more]",
        "  1 x other [aten.log; /m/model.py:9]",
    ]


def test_shortens_locations_from_the_left():
    place = "/home/somebody/somewhere/deep/project/model.py:12"
    assert explanation.shorten_location(place, 20) == "...ect/model.py:12"[:3] + place[-17:]
    assert explanation.shorten_location(f"{os.getcwd()}/model.py:3") == "model.py:3"


@pytest.mark.parametrize(("variable", "is_shown"), [("1", True), ("0", False), (None, False)])
def test_shows_forced_progress_after_delay(variable, is_shown, monkeypatch, capsys):
    monkeypatch.setattr(_progress, "START_DELAY", 0.05)
    monkeypatch.delenv(_progress.QUIET_VARIABLE, raising=False)
    if variable is not None:
        monkeypatch.setenv(_progress.PROGRESS_VARIABLE, variable)
    with _progress.show_progress("compiling graph 0"):
        time.sleep(0.3)
        with _progress.show_progress("simulating"):
            pass
    assert ("spyre: compiling graph 0, 0 s" in capsys.readouterr().err) == is_shown
    assert not any(thread.name == "spyre progress" for thread in threading.enumerate())


@pytest.mark.parametrize(("variable", "is_shown"), [("0", False), ("", True), (None, True)])
def test_hides_terminal_progress_if_variable_is_0(variable, is_shown, monkeypatch, capsys):
    monkeypatch.setattr(_progress, "START_DELAY", 0.0)
    monkeypatch.setattr(_progress, "is_terminal", lambda: True)
    monkeypatch.delenv(_progress.QUIET_VARIABLE, raising=False)
    monkeypatch.delenv(_progress.PROGRESS_VARIABLE, raising=False)
    if variable is not None:
        monkeypatch.setenv(_progress.PROGRESS_VARIABLE, variable)
    with _progress.show_progress("compiling"):
        time.sleep(0.1)
    assert ("spyre: compiling, 0 s" in capsys.readouterr().err) == is_shown


@pytest.mark.parametrize("quieted_by", ["option", "variable"])
def test_hides_progress_and_summary_if_quiet(quieted_by, monkeypatch, capsys):
    monkeypatch.setattr(_progress, "START_DELAY", 0.0)
    monkeypatch.setenv(_progress.PROGRESS_VARIABLE, "1")
    if quieted_by == "variable":
        monkeypatch.setenv(_progress.QUIET_VARIABLE, "1")
    with _progress.show_progress("compiling", quiet=quieted_by == "option"):
        time.sleep(0.1)
    _progress.show_line("graph 0", "3 ops", quiet=quieted_by == "option")
    assert capsys.readouterr().err == ""


def test_hides_progress_of_fast_work(monkeypatch, capsys):
    monkeypatch.setenv(_progress.PROGRESS_VARIABLE, "1")
    with _progress.show_progress("compiling"):
        pass
    assert capsys.readouterr().err == ""


def test_exits_on_ctrl_c():
    """The exception ends the process without a crash, even if native code runs."""
    process = start_interrupted(4096, "program.run(*arrays)\ntime.sleep(60)")
    started = time.monotonic()
    _, errors = process.communicate(timeout=60)
    assert time.monotonic() - started < 10
    assert "KeyboardInterrupt" in errors and process.returncode == -signal.SIGINT

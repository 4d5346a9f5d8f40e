"""Output beside results: progress lines, and the tables of `explain`."""

import io
import os
import signal
import threading
import time

import pytest
from test_program import SOFTMAX, interrupted

import spyre_mlir
from spyre_mlir import _progress, explanation


def test_explain_has_a_table_of_the_last_compilations(monkeypatch, capsys):
    monkeypatch.setattr(explanation, "_recent", explanation.collections.deque(maxlen=explanation.MAX_COMPILATIONS))
    spyre_mlir.explain()
    assert "nothing was compiled" in capsys.readouterr().out
    program = spyre_mlir.compile(SOFTMAX)
    # A program that the user has is explained by itself; nothing is printed without a request.
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


def test_reasons_are_grouped_with_counts_and_lines():
    left = [explanation.Left("aten.exp.default(f32[8])", f"/m/model.py:{line}", f"no {line}x64 here") for line in range(5)]
    left += [explanation.Left("aten.log.default(f32[8])", "/m/model.py:9", "other")]
    assert explanation.grouped(left) == [
        "  5 x no 0x64 here [aten.exp; /m/model.py:0, /m/model.py:1, /m/model.py:2 and 2 more]",
        "  1 x other [aten.log; /m/model.py:9]",
    ]


def test_places_are_cut_from_the_left():
    place = "/home/somebody/somewhere/deep/project/model.py:12"
    assert explanation.short(place, 20) == "...ect/model.py:12"[:3] + place[-17:]
    assert explanation.short(f"{os.getcwd()}/model.py:3") == "model.py:3"


@pytest.mark.parametrize(("variable", "is_shown"), [("1", True), ("0", False), (None, False)])
def test_progress_is_shown_after_a_while_if_it_is_forced(variable, is_shown, monkeypatch, capsys):
    monkeypatch.setattr(_progress, "PATIENCE", 0.05)
    monkeypatch.delenv(_progress.QUIET, raising=False)
    if variable is not None:
        monkeypatch.setenv(_progress.FORCED, variable)
    with _progress.progress("compiling graph 0"):
        time.sleep(0.3)
        with _progress.progress("simulating"):
            pass
    assert ("spyre: compiling graph 0, 0 s" in capsys.readouterr().err) == is_shown
    assert not any(thread.name == "spyre progress" for thread in threading.enumerate())


@pytest.mark.parametrize(("variable", "is_shown"), [("0", False), ("", True), (None, True)])
def test_progress_on_a_terminal_is_turned_off_by_its_variable(variable, is_shown, monkeypatch, capsys):
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    monkeypatch.setattr(_progress, "is_terminal", lambda: True)
    monkeypatch.delenv(_progress.QUIET, raising=False)
    monkeypatch.delenv(_progress.FORCED, raising=False)
    if variable is not None:
        monkeypatch.setenv(_progress.FORCED, variable)
    with _progress.progress("compiling"):
        time.sleep(0.1)
    assert ("spyre: compiling, 0 s" in capsys.readouterr().err) == is_shown


@pytest.mark.parametrize("how", ["option", "variable"])
def test_quiet_shows_no_progress_and_no_line(how, monkeypatch, capsys):
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    monkeypatch.setenv(_progress.FORCED, "1")
    if how == "variable":
        monkeypatch.setenv(_progress.QUIET, "1")
    with _progress.progress("compiling", quiet=how == "option"):
        time.sleep(0.1)
    _progress.say("graph 0", "3 ops", quiet=how == "option")
    assert capsys.readouterr().err == ""


def test_fast_work_shows_nothing(monkeypatch, capsys):
    monkeypatch.setenv(_progress.FORCED, "1")
    with _progress.progress("compiling"):
        pass
    assert capsys.readouterr().err == ""


def test_ctrl_c_stops_a_program_at_once():
    """Ends the process by the exception, without a crash, if native code runs and the user has no handler."""
    process = interrupted(4096, "program.run(*arrays)\ntime.sleep(60)")
    started = time.monotonic()
    _, errors = process.communicate(timeout=60)
    assert time.monotonic() - started < 10
    assert "KeyboardInterrupt" in errors and process.returncode == -signal.SIGINT

"""Distinguishes files of the user from files of installed packages."""

from __future__ import annotations

import functools
import os
import pathlib
import sysconfig

PACKAGE = str(pathlib.Path(__file__).parent) + os.sep
PACKAGE_FOLDERS = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
GENERATED = ("<eval_with_key>", "<frozen ", "<__array_function__", "<torch_package")


@functools.cache
def is_installed(file: str) -> bool:
    """Returns whether a file belongs to an installed package, to Python or to this package."""
    library = tuple(path + os.sep for path in (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")) if path)
    return file.startswith((*GENERATED, *library, PACKAGE)) or any(part in file for part in PACKAGE_FOLDERS)

# SPDX-License-Identifier: Apache-2.0
"""Takes the library along where it was built in this tree; without it the package looks for one when it is used."""

import pathlib
import shutil

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

LIBRARY = pathlib.Path(__file__).resolve().parent.parent.parent / "build" / "release" / "libharn.so"


class WithLibrary(build_py):
    def run(self):
        super().run()
        if LIBRARY.exists():
            shutil.copy2(LIBRARY, pathlib.Path(self.build_lib) / "harness" / "libharn.so.1")


class ForThisPlatform(Distribution):
    def has_ext_modules(self):
        return LIBRARY.exists()


setup(cmdclass={"build_py": WithLibrary}, distclass=ForThisPlatform)

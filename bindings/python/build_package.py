# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel (PEP 517) with nothing but Python itself, so that pip needs no network and no other package.

Takes the library along where it was built in this tree; without it the package looks for one when it is used.
"""

import base64
import hashlib
import pathlib
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = HERE.parent.parent / "build" / "release" / "libharn.so"
NAME, VERSION = "harness", "0.1.0"
SUMMARY = "Commands of AI agents, run inside a boundary the operating system enforces"
INFO = f"{NAME}-{VERSION}.dist-info"


def _tag():
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_") if LIBRARY.exists() else "any"
    return f"py3-none-{platform}"


def _metadata():
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    return (
        f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\nSummary: {SUMMARY}\nLicense: Apache-2.0\n"
        f"Requires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n{readme}"
    )


def _wheel():
    pure = "false" if LIBRARY.exists() else "true"
    return f"Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: {pure}\nTag: {_tag()}\n"


def _files():
    for path in sorted((HERE / NAME).rglob("*")):
        if path.suffix in (".py", ".pyi") or path.name == "py.typed":
            yield path.relative_to(HERE).as_posix(), path.read_bytes()
    if LIBRARY.exists():
        yield f"{NAME}/libharn.so.1", LIBRARY.read_bytes()
    yield f"{INFO}/METADATA", _metadata().encode()
    yield f"{INFO}/WHEEL", _wheel().encode()


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"{NAME}-{VERSION}-{_tag()}.whl"
    record = []
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in _files():
            wheel.writestr(path, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(content)}")
        record.append(f"{INFO}/RECORD,,")
        wheel.writestr(f"{INFO}/RECORD", "\n".join(record) + "\n")
    return name

"""Writes a wheel. Arguments: the wheel's path, its tag, the version, the time in seconds since 1970, the module's file,
the folder of the package in Python, and license files."""

import base64
import hashlib
import pathlib
import sys
import time
import zipfile

wheel, tag, version, seconds, module, package, *licenses = sys.argv[1:]
info = f"ompvm-{version}.dist-info"
date = time.gmtime(int(seconds))[:6]
record = []


def add(archive, name, data, mode=0o644):
    entry = zipfile.ZipInfo(name, date)
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record.append(f"{name},sha256={digest},{len(data)}\n")


with zipfile.ZipFile(wheel, "w") as archive:
    for file in sorted(pathlib.Path(package).iterdir()):
        if file.is_file() and file.suffix in (".py", ".pyi", ".typed") or file.name == "py.typed":
            add(archive, f"ompvm/{file.name}", file.read_bytes())
    add(archive, "ompvm/_ompvm.abi3.so", pathlib.Path(module).read_bytes(), 0o755)
    metadata = [
        "Metadata-Version: 2.4",
        "Name: ompvm",
        f"Version: {version}",
        "Summary: Run and call OpenMP programs from LLVM bitcode",
        "License-Expression: MIT OR Apache-2.0",
        "Requires-Python: >=3.11",
    ]
    for license in map(pathlib.Path, licenses):
        metadata.append(f"License-File: {license.name}")
        add(archive, f"{info}/licenses/{license.name}", license.read_bytes())
    add(archive, f"{info}/METADATA", ("\n".join(metadata) + "\n").encode())
    text = f"Wheel-Version: 1.0\nGenerator: ompvm\nRoot-Is-Purelib: false\nTag: {tag}\n"
    add(archive, f"{info}/WHEEL", text.encode())
    name = f"{info}/RECORD"
    archive.writestr(zipfile.ZipInfo(name, date), "".join(record) + f"{name},,\n")

"""Reads from a program's own bytes where it runs, so that no package claims more.

ELF, Mach-O and PE; of ELF also the libraries that it needs and the newest version of glibc among its symbols.
"""

import dataclasses
import pathlib
import re
import struct

from project import die

ELF_MACHINES = {0x3E: "x86_64", 0xB7: "aarch64"}
MACH_CPUS = {0x01000007: "x86_64", 0x0100000C: "aarch64"}
PE_MACHINES = {0x8664: "x86_64", 0xAA64: "aarch64"}

PT_INTERP, PT_LOAD, PT_DYNAMIC = 3, 1, 2
DT_NEEDED, DT_STRTAB = 1, 5
LC_VERSION_MIN_MACOSX, LC_BUILD_VERSION = 0x24, 0x32


@dataclasses.dataclass
class Program:
    path: pathlib.Path
    system: str  # linux, macos or windows
    machine: str  # x86_64 or aarch64
    is_static: bool
    libraries: list
    oldest: tuple  # of glibc, or of macOS; empty if it does not matter

    @property
    def target(self):
        if self.system == "linux":
            return f"{self.machine}-unknown-linux-{'musl' if self.is_static else 'gnu'}"
        return f"{self.machine}-{'apple-darwin' if self.system == 'macos' else 'pc-windows-gnu'}"

    @property
    def name(self):
        """The crate of the program, by the name of its file: `weir`, or `weir-server` for teams."""
        return "weir-server" if self.path.name.startswith("weir-server") else "weir"

    @property
    def file_name(self):
        return f"{self.name}.exe" if self.system == "windows" else self.name


def read(path):
    path = pathlib.Path(path)
    data = path.read_bytes()
    if data[:4] == b"\x7fELF":
        return _elf(path, data)
    if data[:4] == b"\xcf\xfa\xed\xfe":
        return _mach(path, data)
    if data[:2] == b"MZ":
        (at,) = struct.unpack_from("<I", data, 0x3C)
        (machine,) = struct.unpack_from("<H", data, at + 4)
        return Program(path, "windows", _known(PE_MACHINES, machine), True, [], ())
    return die(f"not a program for Linux, macOS or Windows: {path}")


def _known(machines, number):
    return machines.get(number) or die(f"unknown machine {number:#x}")


def _elf(path, data):
    if data[4] != 2 or data[5] != 1:
        die(f"not a 64-bit little-endian program: {path}")
    (machine,) = struct.unpack_from("<H", data, 18)
    (table,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    heads = [struct.unpack_from("<IIQQQQQQ", data, table + index * size) for index in range(count)]
    loads = [(address, offset, length) for kind, _, offset, address, _, length, *_ in heads if kind == PT_LOAD]
    dynamic = next(((offset, length) for kind, _, offset, _, _, length, *_ in heads if kind == PT_DYNAMIC), None)
    # A static position-independent program has a dynamic section too; only one with an interpreter needs libraries.
    is_static = not any(head[0] == PT_INTERP for head in heads)
    libraries = [] if is_static or dynamic is None else _needed(data, dynamic, loads)
    found = re.findall(rb"GLIBC_(\d+)\.(\d+)\b", data)
    versions = sorted({(int(major), int(minor)) for major, minor in found})
    oldest = versions[-1] if versions and not is_static else ()
    return Program(path, "linux", _known(ELF_MACHINES, machine), is_static, libraries, oldest)


def _needed(data, dynamic, loads):
    entries = list(struct.iter_unpack("<qQ", data[dynamic[0] : dynamic[0] + dynamic[1]]))
    address = next(value for tag, value in entries if tag == DT_STRTAB)
    strings = next(offset + address - start for start, offset, size in loads if start <= address < start + size)
    starts = [strings + value for tag, value in entries if tag == DT_NEEDED]
    return [data[start : data.index(b"\0", start)].decode() for start in starts]


def _mach(path, data):
    cpu, _, _, count = struct.unpack_from("<iiII", data, 4)
    at, oldest = 32, (11, 0)
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, at)
        if command in (LC_BUILD_VERSION, LC_VERSION_MIN_MACOSX):
            (packed,) = struct.unpack_from("<I", data, at + (12 if command == LC_BUILD_VERSION else 8))
            oldest = (packed >> 16, packed >> 8 & 0xFF)
        at += size
    return Program(path, "macos", _known(MACH_CPUS, cpu), False, [], oldest)

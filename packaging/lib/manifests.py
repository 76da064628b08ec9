"""Writes what package managers read to install the archives of a release: where each one is, and its checksum.

A manifest names only archives that are there. Where there are two for a system, the static one comes first.
"""

import base64
import json

from project import AUTHORS, KEYWORDS, LICENCE, MARKER, NAME, PACKAGING, SUMMARY
from project import filled, python_version, repository, version

WINGET_NAME = "Weir.Weir"
WINGET_FORM = "1.6.0"
WINDOWS = "x86_64-pc-windows-gnu"

FORMULA_TARGETS = {
    "on_macos/on_arm": ["aarch64-apple-darwin"],
    "on_macos/on_intel": ["x86_64-apple-darwin"],
    "on_linux/on_arm": ["aarch64-unknown-linux-musl", "aarch64-unknown-linux-gnu"],
    "on_linux/on_intel": ["x86_64-unknown-linux-musl", "x86_64-unknown-linux-gnu"],
}
NIX_TARGETS = {
    "aarch64-darwin": FORMULA_TARGETS["on_macos/on_arm"],
    "aarch64-linux": FORMULA_TARGETS["on_linux/on_arm"],
    "x86_64-darwin": FORMULA_TARGETS["on_macos/on_intel"],
    "x86_64-linux": FORMULA_TARGETS["on_linux/on_intel"],
}
ARCH_TARGETS = {"aarch64": NIX_TARGETS["aarch64-linux"], "x86_64": NIX_TARGETS["x86_64-linux"]}


def write(out, archives):
    """Writes all manifests for which there are archives, which are checksums by target. Returns their names."""
    texts = {}
    if _present(FORMULA_TARGETS, archives):
        texts |= {f"{NAME}.rb": formula(archives), "flake.nix": flake(archives)}
    if _present(ARCH_TARGETS, archives):
        texts["PKGBUILD"] = pkgbuild(archives)
    if WINDOWS in archives:
        texts[f"{NAME}.json"] = scoop(archives[WINDOWS])
        texts |= winget(archives[WINDOWS])
    for name, text in texts.items():
        (out / name).write_text(text)
    return sorted(texts)


def file_name(target):
    """The archive for a target. That for Windows is a zip, because winget opens nothing else."""
    return f"weir-{version()}-{target}.{'zip' if 'windows' in target else 'tar.gz'}"


def address(target):
    return f"{repository()}/releases/download/v{version()}/{file_name(target)}"


def formula(archives):
    """The formula for Homebrew, with one block per platform."""
    blocks = []
    for place, target in _present(FORMULA_TARGETS, archives).items():
        system, processor = place.split("/")
        inner = f'      url "{address(target)}"\n      sha256 "{archives[target]}"\n'
        blocks.append(f"  {system} do\n    {processor} do\n{inner}    end\n  end\n")
    return _fill("homebrew/weir-cli.rb.in", {"DOWNLOADS": "\n".join(blocks).rstrip()})


def flake(archives):
    """The flake for Nix, whose checksums are in base64."""
    rows = []
    for system, target in _present(NIX_TARGETS, archives).items():
        rows.append(f"        {system} = {{")
        rows.append(f'          url = "{address(target)}";')
        rows.append(f'          hash = "sha256-{base64.b64encode(bytes.fromhex(archives[target])).decode()}";')
        rows.append("        };")
    return _fill("nix/flake.nix.in", {"ARCHIVES": "\n".join(rows), "MARKER": MARKER})


def pkgbuild(archives):
    """The recipe for the AUR. Its version has no hyphen, as Arch demands: 1.0.0rc1, which is older than 1.0.0."""
    present = _present(ARCH_TARGETS, archives)
    sources = []
    for machine, target in present.items():
        sources.append(f"source_{machine}=('{address(target)}')")
        sources.append(f"sha256sums_{machine}=('{archives[target]}')")
    static = all(target.endswith("-musl") for target in present.values())
    return _fill("aur/PKGBUILD.in", {
        "PKGVER": python_version(version()),
        "ARCHITECTURES": _quoted(present),
        "DEPENDS": "" if static else _quoted(["gcc-libs", "glibc"]),
        "SOURCES": "\n".join(sources),
        "MARKER": MARKER,
    })


def scoop(checksum):
    """The manifest for Scoop."""
    folder = f"weir-{version()}-{WINDOWS}"
    # What stands for the version in the manifests of later releases.
    later = {"url": address(WINDOWS), "extract_dir": folder}
    later = {name: value.replace(version(), "$version") for name, value in later.items()}
    manifest = {
        "version": version(),
        "description": SUMMARY,
        "homepage": repository(),
        "license": LICENCE.replace(" OR ", "|"),
        "architecture": {"64bit": {"url": address(WINDOWS), "hash": checksum, "extract_dir": folder}},
        "bin": "bin\\weir.exe",
        "checkver": "github",
        "autoupdate": {"architecture": {"64bit": later}},
    }
    return json.dumps(manifest, indent=4) + "\n"


def winget(checksum):
    """The three files for winget."""
    values = {
        "IDENTIFIER": WINGET_NAME,
        "FORM": WINGET_FORM,
        "TAGS": ", ".join(KEYWORDS),
        "TARGET": WINDOWS,
        "ADDRESS": address(WINDOWS),
        "SUM": checksum.upper(),
    }
    parts = {"": "version", ".installer": "installer", ".locale.en-US": "locale.en-US"}
    return {f"{WINGET_NAME}{ending}.yaml": _fill(f"winget/{part}.yaml.in", values) for ending, part in parts.items()}


def _present(targets, archives):
    """The first target of each kind of which there is an archive."""
    found = {name: [one for one in possible if one in archives] for name, possible in targets.items()}
    return {name: present[0] for name, present in found.items() if present}


def _quoted(words):
    return " ".join(f"'{word}'" for word in words)


def _fill(template, values):
    common = {"VERSION": version(), "HOMEPAGE": repository()}
    common |= {"SUMMARY": SUMMARY, "AUTHORS": AUTHORS, "LICENCE": LICENCE}
    return filled(PACKAGING / template, common | values)

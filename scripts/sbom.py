#!/usr/bin/env python3
"""Writes what the program is made of as a CycloneDX document: sbom.py FILE.json.

By `cargo metadata` alone, so that it needs nothing to be installed; the lock file says the versions and their checksums.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def reached(metadata: dict, name: str) -> set[str]:
    """The ids of a package and of all that it needs, but for what only its tests and its build need."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    start = next(package["id"] for package in metadata["packages"] if package["name"] == name)
    seen, left = set(), [start]
    while left:
        node = left.pop()
        if node in seen:
            continue
        seen.add(node)
        for needed in nodes[node]["deps"]:
            if any(kind["kind"] is None for kind in needed["dep_kinds"]):
                left.append(needed["pkg"])
    return seen


def component(package: dict, checksums: dict) -> dict:
    """A package as a component."""
    made = {
        "type": "library",
        "name": package["name"],
        "version": package["version"],
        "purl": f"pkg:cargo/{package['name']}@{package['version']}",
    }
    if package["license"]:
        made["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    checksum = checksums.get((package["name"], package["version"]))
    if checksum:
        made["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return made


def main() -> None:
    """Writes the document."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    checksums = {(each["name"], each["version"]): each.get("checksum") for each in lock["package"]}
    ids = reached(metadata, "triview-cli")
    packages = sorted((each for each in metadata["packages"] if each["id"] in ids), key=lambda each: each["name"])
    program = next(each for each in packages if each["name"] == "triview-cli")
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "triview", "version": program["version"]}},
        "components": [component(each, checksums) for each in packages if each is not program],
    }
    Path(sys.argv[1]).write_text(json.dumps(document, indent=2) + "\n")
    print(f"{len(packages) - 1} components in {sys.argv[1]}")


if __name__ == "__main__":
    main()

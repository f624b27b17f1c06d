#!/usr/bin/env python3
"""Attacks the program for some minutes, and writes what came of it to docs/reliability.md.

attack.py [--program PATH] [--seconds N] [--write]

Broken files and stores, bombs, files that change, signals, disks that fail and too little memory. The page has the figures of the fuzz targets,
too, from fuzz/campaign.csv, and nothing in it is written by hand. What must hold of every run: the
status is 0, 1 or 2 (130 and 143 at signals), nobody speaks of a panic, what is not answered prints nothing on standard output, it ends within a
minute, takes less memory than it may, and leaves no file half-written or behind.
"""

import argparse
import csv
import gzip
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "crates/triview-table/tests/corpus"
#: What decoding may take by default, and what the program takes beside it, in bytes.
MOST = (2 << 30) + (1 << 30)


class Attack:
    """The runs of the program, and what was wrong with them."""

    def __init__(self, program: Path, seconds: float) -> None:
        self.program, self.seconds = program, seconds
        self.folder = Path(tempfile.mkdtemp(prefix="triview-attack-"))
        self.rows: list[tuple[str, int, str, int]] = []
        self.wrong: list[str] = []
        self.random = random.Random(0)

    def run(
        self,
        *arguments: object,
        statuses: tuple[int, ...] = (0, 1, 2),
        memory: int | None = None,
        within: tuple[str, ...] = (),
    ) -> subprocess.CompletedProcess:
        """Runs a command, within another program where one is named, and looks at what no command may do."""
        command = [*within, str(self.program), *map(str, arguments)]
        limit = None
        if memory:
            limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))  # noqa: E731
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        try:
            done = subprocess.run(command, cwd=self.folder, capture_output=True, timeout=60, preexec_fn=limit, check=False)
        except subprocess.TimeoutExpired:
            self.wrong.append(f"{command}: not over within a minute")
            return subprocess.CompletedProcess(command, None, b"", b"")
        said = done.stderr.decode(errors="replace")
        if done.returncode not in statuses:
            self.wrong.append(f"{command}: status {done.returncode}: {said[-300:]}")
        if "panicked" in said or "has a bug" in said:
            self.wrong.append(f"{command}: {said[-300:]}")
        if done.returncode == 2 and done.stdout:
            self.wrong.append(f"{command}: refused, and something on standard output")
        after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        if after > before and after * 1024 > MOST:
            self.wrong.append(f"{command}: {after >> 10} MiB of memory")
        return done

    def told(self, what: str, runs: int, came: str) -> None:
        """Keeps a line of the table."""
        broke = len(self.wrong) - sum(row[3] for row in self.rows)
        self.rows.append((what, runs, came, broke))
        print(f"{what}: {runs} runs, {came}; {broke} broke a promise", flush=True)

    def until(self, share: float):
        """Counts, until a share of the time is over."""
        end, count = time.monotonic() + share * self.seconds, 0
        while time.monotonic() < end:
            yield count
            count += 1

    def damaged(self) -> None:
        """Files of every kind with bytes changed, left out, repeated and cut off."""
        verbs = {
            "moments": ["inspect"],
            "model": ["inspect"],
            "votes": ["estimate", "--votes"],
            "sequences": ["hmm", "--transition", CORPUS / "transitions/valid.csv"],
        }
        files = [path for kind in sorted(CORPUS.iterdir()) if kind.is_dir() for path in sorted(kind.iterdir())]
        for name in ("s.csv", "s.parquet", "s.arrow", "s.npy", "s.moments"):
            if name.endswith("moments"):
                self.run("moments", "s.csv", "-o", name, "--quiet")
            else:
                self.run("simulate", "--rows", 500, "-o", name, "--quiet")
            files += [self.folder / name] * 10
        counts = {0: 0, 1: 0, 2: 0}
        runs = 0
        for runs in self.until(0.47):
            source = files[runs % len(files)] if runs < len(files) else self.random.choice(files)
            data = bytearray(source.read_bytes())
            for _ in range(0 if runs < len(files) else self.random.randint(1, 6)):
                at = self.random.randrange(len(data)) if data else 0
                # What is at the end of a file describes the rest of it.
                if self.random.random() < 0.4 and len(data) > 400:
                    at = len(data) - self.random.randint(1, 400)
                match self.random.randrange(5):
                    case 0:
                        del data[at:]
                    case 1:
                        data[at : at + 1] = bytes([self.random.choice([0, 0xFF, 0x7F, 0x80, self.random.randrange(256)])])
                    case 2:
                        data[at : at + self.random.randint(1, 9)] = b""
                    case 3:
                        data[at:at] = data[at : at + self.random.randint(1, 64)]
                    case _:
                        data[at : at + 8] = struct.pack("<q", self.random.choice([-1, 2**31 - 1, 2**62, 2**40]))
            ending = "".join(source.suffixes[-1:]) or {"parquet": ".parquet", "ipc": ".arrow"}.get(source.parent.name, "")
            path = self.folder / f"broken{ending}"
            path.write_bytes(data)
            verb = verbs.get(source.parent.name, ["inspect"] if ending == ".moments" else ["diagnose", "--input", "score"])
            done = self.run(*verb, path.name)
            counts[done.returncode] = counts.get(done.returncode, 0) + 1
        refused = counts[2]
        self.told("broken files of every kind", runs + 1, f"{refused} refused, {runs + 1 - refused} answered")

    def bombs(self) -> None:
        """Small files that claim or unpack to more than there is."""
        # In parts: what this process holds would be taken for its child's.
        with gzip.open(self.folder / "bomb.csv.gz", "wb", 1) as file:
            for _ in range(300):
                file.write(b"0" * (10 << 20))
        deep = b"\x15\x02\x19\xfc\x89\xa7\x00" + b"\x48\x01g\x15\x02\x00" * 5000 + b"\x15\x0a\x25\x00\x18\x01x\x00" + b"\x16\x00\x19\x0c\x00"
        wide = b"\x15\x02\x19\x2c" + b"\x48\x01g\x15\xfe\xff\xff\xff\x0f\x00" + b"\x15\x0a\x25\x00\x18\x01x\x00" + b"\x16\x00\x19\x0c\x00"
        for name, footer in (("deep", deep), ("wide", wide)):
            body = b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1"
            (self.folder / f"{name}.parquet").write_bytes(body)
        with (self.folder / "holes.moments").open("wb") as file:
            file.write((self.folder / "s.moments").read_bytes())
            file.truncate(60 << 30)
        with (self.folder / "holes.arrows").open("wb") as file:
            file.write(b"\xff\xff\xff\xff" + struct.pack("<I", 3_000_000_000))
            file.truncate(4 << 30)
        names = ("bomb.csv.gz", "deep.parquet", "wide.parquet", "holes.moments", "holes.arrows")
        for name in names:
            done = self.run("estimate", name, statuses=(2,))
            if name.encode() not in done.stderr:
                self.wrong.append(f"{name} is not named: {done.stderr[-300:]!r}")
        self.told("files that claim or unpack to more than there is", len(names), "refused by name")
        for name in names:
            (self.folder / name).unlink()

    def changes(self) -> None:
        """Files that change while they are read."""
        header, rows = (self.folder / "s.csv").read_text().split("\n", 1)
        runs = refused = 0
        for runs in self.until(0.12):
            path = self.folder / "changing.csv"
            path.write_text(header + "\n" + rows * 20)
            over = threading.Event()

            def change(over: threading.Event = over, path: Path = path, runs: int = runs) -> None:
                while not over.wait(0.003):
                    if runs % 2:
                        with path.open("a") as file:
                            file.write(rows)
                    else:
                        with path.open("r+") as file:
                            file.seek(len(header) + 1)
                            file.write("9")

            thread = threading.Thread(target=change)
            thread.start()
            done = self.run("estimate", path.name)
            over.set()
            thread.join()
            refused += done.returncode == 2
            if done.returncode != 2 or b"changed while it was being read" not in done.stderr:
                self.wrong.append(f"a changed file, status {done.returncode}: {done.stderr[-300:]!r}")
        self.told("files written to while they are read", runs + 1, f"{refused} refused by name")

    def signals(self) -> None:
        """Signals at any moment of a writing."""
        runs = 0
        for runs in self.until(0.13):
            asked = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL][runs % 3]
            target = self.folder / "out" / "endless.csv"
            target.parent.mkdir(exist_ok=True)
            command = [self.program, "simulate", "--classes", "50", "--rows", "9000000", "-o", target, "--quiet"]
            child = subprocess.Popen(list(map(str, command)), stderr=subprocess.DEVNULL)
            time.sleep(self.random.uniform(0.02, 0.5))
            child.send_signal(asked)
            status = child.wait(timeout=30)
            expected = -asked if asked == signal.SIGKILL else 128 + asked
            # Before the handlers are set the system ends it.
            if status not in (expected, -asked):
                self.wrong.append(f"{asked.name}: status {status}")
            left = sorted(os.listdir(target.parent))
            if left:
                self.wrong.append(f"{asked.name}: leaves {left}")
                shutil.rmtree(target.parent)
        self.told("SIGINT, SIGTERM and SIGKILL while a file is written", runs + 1, "ended with 130, 143 and killed")

    def memory(self) -> None:
        """Less and less memory."""
        runs = counted = answered = 0
        for runs, megabytes in enumerate(range(60, 460, 8)):
            done = self.run("estimate", "s.parquet", "--threads", 1, memory=megabytes << 20, statuses=(0, 1, 2, 127))
            counted += done.returncode == 2
            answered += done.returncode in (0, 1)
        self.told("an estimate with 60 to 452 MiB of address space", runs + 1, f"{counted} ended with a message and 2, {answered} answered, {runs + 1 - counted - answered} did not get to begin")

    def disks(self) -> None:
        """Disks that fail at any call while a file is replaced, and while one is read."""
        if not shutil.which("strace"):
            self.told("system calls that fail", 0, "not tried: there is no strace")
            return
        folder = self.folder / "disk"
        folder.mkdir()
        target = folder / "part.moments"
        # What was there before differs from what is written: which of the two is there afterwards can be told.
        self.run("simulate", "--rows", 700, "--seed", 7, "-o", "other.csv", "--quiet", statuses=(0,))
        self.run("moments", "other.csv", "-o", "old.moments", "--quiet", statuses=(0,))
        old, new = (self.folder / "old.moments").read_bytes(), (self.folder / "s.moments").read_bytes()
        traced = ("strace", "-f", "-qq", "-o", "/dev/null", "-e")
        runs = kept = 0
        for call in ("fsync", "linkat", "rename", "fchmod", "openat", "write"):
            for error in ("EIO", "ENOSPC", "EACCES"):
                for when in ("1", "2", "1+"):
                    # The program itself is loaded by such calls, and writes its messages by them: of these only what concerns the folder.
                    only = ("-P", str(folder), "-P", str(target)) if call in ("openat", "write") else ()
                    target.write_bytes(old)
                    within = (*traced, f"inject={call}:error={error}:when={when}", *only)
                    done = self.run("moments", "s.csv", "-o", target, "--quiet", statuses=(0, 2), within=within)
                    runs += 1
                    found, left = target.read_bytes(), os.listdir(folder)
                    said = done.stderr.decode(errors="replace")
                    # A message about what was there before must be true.
                    is_new = done.returncode == 0 or "in its place" in said
                    if found != (new if is_new else old) or left != [target.name]:
                        which = {old: "the old file", new: "the new file"}.get(found, "neither file")
                        self.wrong.append(f"{call}:{error}:{when}: status {done.returncode}, {which}, {left}: {said[-200:]}")
                    kept += found == old
        self.told("system calls that fail while a file is replaced", runs, f"{kept} left the old file, {runs - kept} the new, as they said")
        runs = refused = 0
        for name in ("s.csv", "s.parquet", "s.arrow", "s.npy", "s.moments"):
            for when in range(1, 16):
                within = (*traced, f"inject=read,pread64:error=EIO:when={when}", "-P", str(self.folder / name))
                done = self.run("estimate", name, "--threads", 1, within=within)
                runs += 1
                refused += done.returncode == 2
                if done.returncode == 2 and (name.encode() not in done.stderr or b"Input/output error" not in done.stderr):
                    self.wrong.append(f"{name}, call {when}: {done.stderr[-300:]!r}")
        self.told("readings of a file that fail", runs, f"{refused} refused by name, {runs - refused} did not need what failed")

    def stores(self) -> None:
        """Stores of monitoring with bytes changed, and cut off."""
        rows = (self.folder / "s.csv").read_text().split()
        with (self.folder / "days.csv").open("w") as file:
            file.write(rows[0] + ",day\n")
            file.writelines(f"{row},2026-01-0{1 + at % 3}\n" for at, row in enumerate(rows[1:]))
        asked = ("--time", "day", "--period", "day", "--quiet")
        self.run("monitor", "s.store", *asked, "--add", "days.csv", statuses=(0, 1))
        whole = (self.folder / "s.store").read_bytes()
        counts = {0: 0, 1: 0, 2: 0}
        runs = 0
        for runs in self.until(0.08):
            data = bytearray(whole)
            for _ in range(self.random.randint(1, 8)):
                # Half of them where pages say what they hold.
                page = self.random.randrange(len(data) // 4096) * 4096
                data[page + self.random.randrange(self.random.choice([64, 4096]))] ^= 1 << self.random.randrange(8)
            if runs % 5 == 4:
                del data[self.random.randrange(len(data)) :]
            (self.folder / "damaged.store").write_bytes(data)
            done = self.run("monitor", "damaged.store", *(("--quiet",) if runs % 2 else ("--quiet", "--add", "days.csv")))
            counts[done.returncode] = counts.get(done.returncode, 0) + 1
            for path in self.folder.glob("damaged.store-*"):
                path.unlink()
        self.told("broken stores, shown and added to", runs + 1, f"{counts[2]} refused, {runs + 1 - counts[2]} answered")

    def clock(self) -> None:
        """Files from the future, and from before all time."""
        times = (0, 1, 2**31 - 1, 2**33, time.time() + 10**6)
        for at in times:
            os.utime(self.folder / "s.csv", (at, at))
            self.run("estimate", "s.csv", statuses=(0, 1))
            self.run("moments", "s.csv", "-o", "clock.moments", "--quiet", statuses=(0,))
        self.told("files of other times, also of the future", 2 * len(times), "answered")


#: What the page says beside the tables.
TESTS = """\
## What tests hold

- A file that changes while it is read: `crates/triview-table/tests/changed.rs`. Bombs and `--memory`: `crates/triview-table/tests/bombs.rs`. Every byte of small files
  cut off and flipped, and the findings of the fuzz targets: `crates/triview-table/tests/damage.rs`. A page of Parquet that is not of its checksum, and rows that are
  counted within their file: `rejections.rs` there. Each step of writing a file failed and cut: `src/write/replace.rs` of the same crate; a reader thread that dies:
  `src/read/prefetch.rs`. Stores cut off, flipped, with pages of anything and with what could be run: `crates/triview-store/tests/damage.rs`. Signals, panics on standard
  error, out of memory, failing system calls, a disk that cannot be read: `crates/triview-cli/tests/cli/attacks.rs` and `terminal.rs`; a clock that goes backwards: `monitor.rs` there.
- Memory that is refused once, at any place of a small estimate: `crates/triview-cli/tests/allocations.rs`. {allocations}

## What it costs

Overflow checks in our own crates cost, in user time of one thread over 300,000 rows of ten classes (nine pairs of runs in turn, on a machine of two cores that others used
meanwhile): moments of CSV 1.8 %, moments of Parquet 1.2 %, an estimate of NPY nothing (-0.6 %), by the median of the pairs; by the fastest of each nine runs 1.6 %, 2.5 % and 0.7 %. At most two per cent is likely, and not shown.
"""
ALLOCATIONS = "Forty places in every run of the tests; at commit 6e10f17 1,465 (`TRIVIEW_ALLOCATIONS=2000`), none of which broke a promise."
NOT_SHOWN = """\
## What is not shown

- {fuzzed}
- A change of the same length within one tick of the file system's clock before the first opening cannot be seen by its time.
- Votes are kept in memory beside `--memory`, and rows that Parquet repeats without end take time without end.
"""
#: What the goals of fuzzing are: executions of every target, and hours on the parsers that were written here.
EXECUTIONS, HOURS = 10**7, 1.0
OWN = ("csv", "footers", "json_lines", "model", "moments", "npy", "sequences", "transitions", "votes")


def fuzzing() -> tuple[list[str], str]:
    """The lines about the fuzz targets, and what is lacking, from what campaigns wrote."""
    campaign = ROOT / "fuzz/campaign.csv"
    executions: dict[str, int] = {}
    hours: dict[str, float] = {}
    commits: list[str] = []
    with campaign.open() as file:
        for row in csv.DictReader(file):
            target = row["target"]
            executions[target] = executions.get(target, 0) + int(row["executions"])
            hours[target] = hours.get(target, 0) + float(row["seconds"]) / 3600
            commits += [row["commit"]] if row["commit"] not in commits else []
    lines = [
        "## Fuzz targets",
        "",
        "`fuzz/run --check` builds all of them from the lock file, `make test` runs each for two seconds from the same seed, and `fuzz/run --campaign SECONDS` goes on",
        f"from its corpus and adds to `fuzz/campaign.csv`, of which this is the sum (commits {', '.join(commits)}). One core each, no sanitizer: the readers have no unsafe code.",
        "",
        "| target | executions | hours |",
        "|---|---|---|",
        *(f"| {target} | {executions[target]:,} | {hours[target]:.2f} |" for target in sorted(executions)),
        f"| all | {sum(executions.values()):,} | {sum(hours.values()):.2f} |",
    ]
    all_targets = sorted(path.stem for path in (ROOT / "fuzz/fuzz_targets").glob("*.rs"))
    few = [target for target in all_targets if executions.get(target, 0) < EXECUTIONS]
    short = [target for target in OWN if hours.get(target, 0) < HOURS]
    lacking = f"{EXECUTIONS // 10**6} million executions are reached by {len(all_targets) - len(few)} of {len(all_targets)} fuzz targets"
    lacking += f" (not by {', '.join(few)})" if few else ""
    lacking += f", an hour by {len(OWN) - len(short)} of the {len(OWN)} whose parsers were written here"
    lacking += f" (not by {', '.join(short)})." if short else "."
    return lines, lacking


def page(attack: Attack) -> str:
    """The page of what came of it."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    fuzzed, lacking = fuzzing()
    lines = [
        "# What it withstands",
        "",
        f"Made by `scripts/attack.py` at commit {commit.stdout.strip()}, in {attack.seconds:.0f} seconds of attacks with the release build; `make attack` does",
        "it again. Of every run it is asked that it ends within a minute with the status 0, 1 or 2, that nobody speaks of a panic, that what is not answered prints",
        "nothing on standard output, that memory stays within what is allowed, and that no file is left half-written or behind.",
        "",
        "| what was tried | runs | what came of it | broke a promise |",
        "|---|---|---|---|",
        *(f"| {what} | {runs:,} | {came} | {broke} |" for what, runs, came, broke in attack.rows),
        "",
        TESTS.format(allocations=ALLOCATIONS),
        *fuzzed,
        "",
        NOT_SHOWN.format(fuzzed=lacking),
    ]
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """Attacks, and says what was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/triview")
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--write", action="store_true", help="write docs/reliability.md")
    arguments = parser.parse_args()
    attack = Attack(arguments.program.resolve(), arguments.seconds)
    try:
        attack.damaged()
        attack.bombs()
        attack.changes()
        attack.stores()
        attack.signals()
        attack.memory()
        attack.disks()
        attack.clock()
    finally:
        shutil.rmtree(attack.folder, ignore_errors=True)
    for wrong in attack.wrong:
        print(f"attack.py: {wrong}", file=sys.stderr)
    if arguments.write:
        (ROOT / "docs/reliability.md").write_text(page(attack))
    return 1 if attack.wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Clusters of real processes on this machine, all on loopback, and rows that are cut into partitions of any sizes."""

import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc

#: What Spark says of itself, and what its own sockets and temporary files leave to the garbage collector.
WARNINGS = ("ignore:PySpark does not yet fully support:FutureWarning", "ignore::ResourceWarning")

#: A copy of every task that is slow.
SPECULATION = {
    "spark__speculation": "true",
    "spark__speculation__quantile": "0.2",
    "spark__speculation__multiplier": "1.1",
    "spark__speculation__minTaskRuntime": "300ms",
}


#: What hides the package from a process.
HIDING = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "triview":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
"""


def hiding(folder):
    """A folder that hides the package from the processes that have it in their path."""
    hidden = Path(folder, "hidden")
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(HIDING)
    return str(hidden)


def assert_same(one, other):
    """Every quantity of two answers, and of their segments, to 1e-9."""
    assert list(one.segments) == list(other.segments)
    pairs = [(one.to_dict(), other.to_dict())]
    pairs += [(segment, other.segments[name]) for name, segment in one.segments.items()]
    for ours, theirs in pairs:
        for key in ("rows", "risk", "standard_error", "interval", "class_prior", "error_rate"):
            assert all(
                close(*pair) for pair in zip(flat(ours.get(key)), flat(theirs.get(key)), strict=True)
            ), key
        p_values = [answer["diagnostics"]["independence"].get("p_value") for answer in (ours, theirs)]
        assert close(*p_values), "p_value"


def flat(value):
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else [value]


def close(one, other):
    return (
        one == other if one is None or other is None else math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    )


def spark_session(folder, master="local-cluster[2,1,1024]", **options):
    """Start Spark with everything it writes below a folder."""
    from pyspark.sql import SparkSession

    prepared(folder)
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "1g",
        "spark.local.dir": str(folder),
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    } | {name.replace("__", "."): value for name, value in options.items()}
    builder = SparkSession.builder.master(master).appName("triview")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def prepared(folder):
    """Make a home of Spark's below a folder, where workers write their logs, and give what starts its programs."""
    import pyspark

    home = Path(folder, "home")
    if not home.exists():
        home.mkdir()
        for entry in Path(pyspark.__file__).parent.iterdir():
            (home / entry.name).symlink_to(entry)
    os.environ.update(SPARK_HOME=str(home), SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
    return str(home / "bin" / "spark-class")


@contextmanager
def spark_cluster(folder, workers=2):
    """A master and workers, each on an address of its own: Spark starts no copy of a slow task on the host that it is slow on."""
    java, port = prepared(folder), free_port()
    url = f"spark://127.0.0.1:{port}"
    master = [
        java,
        "org.apache.spark.deploy.master.Master",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--webui-port",
        "0",
    ]
    of_worker = [
        java,
        "org.apache.spark.deploy.worker.Worker",
        "--cores",
        "1",
        "--memory",
        "1g",
        "--webui-port",
        "0",
    ]
    commands = [master]
    for at in range(workers):
        work = Path(folder, f"worker-{at}")
        commands.append([*of_worker, "--host", f"127.0.0.{2 + at}", "--work-dir", str(work), url])
    with ExitStack() as running:
        for at, command in enumerate(commands):
            environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1" if at == 0 else f"127.0.0.{1 + at}"}
            with Path(folder, f"log-{at}").open("wb") as log:
                process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
            running.callback(process.wait)
            running.callback(process.kill)
        yield url


def free_port():
    """A port that nobody uses."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def children(pid, word):
    """The processes below one whose command line has a word in it."""
    found, parents = [], {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat, command = (entry / "stat").read_text(), (entry / "cmdline").read_bytes()
            except OSError:
                continue
            parents[int(entry.name)] = (
                int(stat.rpartition(")")[2].split()[1]),
                command.decode(errors="replace"),
            )
    for child, (parent, command) in parents.items():
        above = parent
        while above not in (0, pid) and above in parents:
            above = parents[above][0]
        if above == pid and word in command:
            found.append(child)
    return sorted(found)


def executors():
    """The process ids of Spark's executors."""
    return children(os.getpid(), "CoarseGrainedExecutorBackend")


class Killer(threading.Thread):
    """Kills a process, as ``kill -9`` does, once a condition holds."""

    def __init__(self, condition, pids):
        super().__init__(daemon=True)
        self.condition, self.pids, self.killed = condition, pids, []

    def run(self):
        end = time.monotonic() + 60
        while time.monotonic() < end and not self.condition():
            time.sleep(0.05)
        victim = self.pids()[0]
        os.kill(victim, signal.SIGKILL)
        self.killed.append(victim)


def cut(rows, partitions):
    """Where partitions begin and end: empty ones, and of one row, among them."""
    if partitions == 1:
        return [(0, rows)]
    empty, single = set(range(1, partitions, 5)), set(range(3, partitions, 5))
    whole = [at for at in range(partitions) if at not in empty | single]
    each, rest = divmod(rows - len(single), len(whole))
    bounds, begin = [], 0
    for at in range(partitions):
        size = 0 if at in empty else 1 if at in single else each + (rest if at == whole[0] else 0)
        bounds.append((begin, begin + size))
        begin += size
    assert begin == rows
    return bounds


def written(table, path):
    """A table as a file that every process can read a part of."""
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return str(path)


def part_of(path, begin, end):
    """Some rows of a file."""
    return pa.ipc.open_file(pa.memory_map(path)).read_all().slice(begin, end - begin)


def slow_part(path, begin, end, attempts, at):
    """The same, which takes a while, and leaves a file among the attempts."""
    (attempts / f"{at}-{uuid.uuid4()}").touch()
    time.sleep(0.5)
    return part_of(path, begin, end)


def sliced(spark, path, bounds, *, attempts=None, seconds=0.0, slow=(None, 0.0)):
    """A DataFrame with these partitions. Every attempt at one leaves a file among the attempts, and takes a while; the first attempt at
    the slow one takes longer.
    """
    schema = spark.createDataFrame(part_of(path, 0, 1).to_pandas()).schema

    # All that it needs goes along with it: this module is not where the rows are.
    def rows(batches):
        import pathlib
        import time
        import uuid

        import pyarrow as pa

        for batch in batches:
            for at in batch.column("id").to_pylist():
                if attempts is not None:
                    first = not any(pathlib.Path(attempts).glob(f"{at}-*"))
                    pathlib.Path(attempts, f"{at}-{uuid.uuid4()}").touch()
                    time.sleep(slow[1] if at == slow[0] and first else seconds)
                begin, end = bounds[at]
                table = pa.ipc.open_file(pa.memory_map(path)).read_all().slice(begin, end - begin)
                yield from table.combine_chunks().to_batches()

    return spark.range(0, len(bounds), 1, len(bounds)).mapInArrow(rows, schema)

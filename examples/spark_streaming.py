"""The risk of a stream: the moments of each micro-batch are added to those so far, exactly once, across restarts too.

Usage: spark_streaming.py SOURCE FOLDER

SOURCE is a folder that Parquet files with columns view:class are dropped into; FOLDER keeps the plan, the moments of all rows so far, and
Spark's checkpoint. Whatever has come is taken, and the risk of all rows so far is said after every micro-batch; run again, it goes on.
"""

import sys
from pathlib import Path

from pyspark.sql import SparkSession

import triview as tv
import triview.spark


def so_far(folder):
    """The number of the last micro-batch that was added, and the moments of all rows up to it."""
    files = sorted(folder.glob("upto-*.moments"))
    return (int(files[-1].stem.partition("-")[2]), tv.Moments.load(files[-1])) if files else (-1, None)


def add(folder, batch, number):
    """Adds a micro-batch. Spark gives it again, under the same number, where it does not know that it was done."""
    last, total = so_far(folder)
    if number <= last or batch.isEmpty():
        return
    path = folder / "plan.json"
    if not path.exists():
        path.write_bytes(tv.plan(batch.limit(20_000).toArrow()).to_bytes())
    rows = 0 if total is None else total.rows
    added = triview.spark.moments(batch, plan=tv.Plan.from_bytes(path.read_bytes()), starting_at=rows)
    total = added if total is None else total + added
    # The number is the file's name, and a file is written whole or not at all: sums and number cannot come apart.
    total.save(folder / f"upto-{number:012}.moments")
    for former in sorted(folder.glob("upto-*.moments"))[:-1]:
        former.unlink()
    say(number, total)


def say(number, total):
    """Says the risk of all rows so far."""
    answer = total.solve()
    low, high, _ = answer.interval
    print(
        f"batch {number}: risk {answer.risk:.4f}, {low:.4f} to {high:.4f}, of {total.rows} rows", flush=True
    )


def follow(spark, source, folder):
    """Takes all that has come."""
    schema = spark.read.parquet(str(source)).schema
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(source))
    query = (
        stream.writeStream.foreachBatch(lambda batch, number: add(folder, batch, number))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def main():
    """Follow a folder."""
    source, folder = map(Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    spark = SparkSession.builder.appName("triview").getOrCreate()
    follow(spark, source, folder)
    spark.stop()


if __name__ == "__main__":
    main()

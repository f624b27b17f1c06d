"""The merge of 100,000 partitions with stragglers, failures and lost executors: a simulated schedule, and real sums.

Usage: simulate_merge.py [--partitions N] [--slots N] [--seconds S]

The schedule is simulated by events, as Spark's is: tasks whose attempt fails are tried again, slow ones get a copy of which the first to
end counts, and an executor that dies takes the sums with it that it has made. The sums themselves are real, small, and added up by the same
function that runs on executors, in the tree that the schedule makes. Exits with 1 where a row is lost or counted twice.
"""

import argparse
import heapq
import json
import pickle
import random
import statistics
import sys
import time
import warnings

import numpy as np

import triview as tv
from triview import _parts

#: Of attempts, how many take ten times as long, and how many fail on the way.
STRAGGLERS, FAILURES = 0.01, 0.005
#: Slots of an executor, and how many executors die in the course of the work.
SLOTS_OF_ONE, DEATHS = 4, 10
#: Sums that differ; partitions are made of them in turn.
KINDS = 512
#: A copy is made of an attempt that has taken so many times the median, once three quarters are done.
COPIED = 1.5


class Schedule:
    """Tasks on slots, by events."""

    def __init__(self, tasks, slots, seconds, rng):
        self.tasks, self.seconds, self.rng = tasks, seconds, rng
        self.executors = max(1, slots // SLOTS_OF_ONE)
        self.free = [at % self.executors for at in range(slots)]
        self.waiting = list(range(tasks))[::-1]
        self.running, self.done, self.attempts, self.now = {}, {}, 0, 0.0
        self.events, self.number, self.durations = [], 0, []

    def push(self, moment, kind, *what):
        self.number += 1
        heapq.heappush(self.events, (moment, self.number, kind, what))

    def start(self, task):
        executor = self.free.pop()
        self.attempts += 1
        takes = self.seconds * self.rng.lognormvariate(0.0, 0.2) * (10 if self.rng.random() < STRAGGLERS else 1)
        fails = self.rng.random() < FAILURES
        self.running.setdefault(task, {})[self.number] = (executor, self.now)
        self.push(self.now + takes * (self.rng.random() if fails else 1.0), "ends", task, self.number, fails)

    def run(self, deaths):
        for moment in deaths:
            self.push(moment, "dies", self.rng.randrange(self.executors))
        while len(self.done) < self.tasks:
            while self.waiting and self.free:
                self.start(self.waiting.pop())
            if self.free and 4 * len(self.done) >= 3 * self.tasks:
                self.copy_slow()
            self.now, _, kind, what = heapq.heappop(self.events)
            getattr(self, kind)(*what)
        return self.now

    def copy_slow(self):
        late = COPIED * statistics.median(self.durations)
        for task, attempts in list(self.running.items()):
            if self.free and len(attempts) == 1 and self.now - next(iter(attempts.values()))[1] > late:
                self.start(task)

    def ends(self, task, number, fails):
        if number not in self.running.get(task, {}):
            return
        executor, begun = self.running[task].pop(number)
        self.free.append(executor)
        if fails:
            if not self.running[task] and task not in self.done:
                self.waiting.append(task)
            return
        self.durations.append(self.now - begun)
        # The first to end counts, and copies are ended.
        self.done.setdefault(task, executor)
        for other, _ in self.running.pop(task).values():
            self.free.append(other)

    def dies(self, executor):
        lost = [task for task, holder in self.done.items() if holder == executor]
        for task in lost:
            del self.done[task]
        self.waiting.extend(lost)
        for task, attempts in list(self.running.items()):
            for number in [number for number, (of, _) in attempts.items() if of == executor]:
                del attempts[number]
                self.free.append(executor)
            if not attempts:
                del self.running[task]
                self.waiting.append(task)


def schedule(tasks, slots, seconds, seed):
    """How long it takes beside nothing ever going wrong, and how many attempts."""
    rng = random.Random(seed)
    ideal = seconds * 1.02 * tasks / slots
    work = Schedule(tasks, slots, seconds, rng)
    ended = work.run([rng.random() * ideal for _ in range(DEATHS)])
    assert sorted(work.done) == list(range(tasks))
    return ended, ideal, work.attempts


def merge(partitions):
    """Real sums of so many partitions added up by the tree: how long, how deep, and whether every row is in it once."""
    columns = tv.simulate(preset="three", rows=8 * KINDS).table.to_dict()
    views = {view: np.stack([columns[f"{view}:{i}"] for i in range(3)], axis=1) for view in "abc"}
    plan = tv.plan(views)
    parts = [
        plan.accumulator(starting_at=at).update({view: array[at : at + 8] for view, array in views.items()}).finish()
        for at in range(0, 8 * KINDS, 8)
    ]
    states = [(None, part.rows, part.to_bytes()) for part in parts]
    nodes = [states[at % KINDS] for at in range(partitions)]
    begun, depth = time.process_time(), 0
    while len(nodes) > 1:
        groups = (nodes[at : at + _parts.FAN] for at in range(0, len(nodes), _parts.FAN))
        nodes, depth = [_parts.merged(group)[0] for group in groups], depth + 1
    seconds = time.process_time() - begun
    found = tv.Moments.from_bytes(nodes[0][2])
    # The same with few additions: all kinds together, doubled and doubled again.
    expected, doubled, times = sum(parts[: partitions % KINDS], start=plan.accumulator().finish()), sum(parts), partitions // KINDS
    while times:
        expected = expected + doubled if times % 2 else expected
        doubled, times = doubled + doubled, times // 2
    difference = abs(found.solve().risk - expected.solve().risk)
    return {"tree_depth": depth, "merge_seconds": seconds, "rows_lost_or_twice": abs(found.rows - 8 * partitions), "difference": difference}


def driver(partitions):
    """What the driver makes for so many partitions: where each begins, as it travels."""
    begun = time.process_time()
    before = _parts.places({at: {None: 1_000_000} for at in range(partitions)})
    size = len(pickle.dumps(before))
    return time.process_time() - begun, size


def main():
    """Simulate, merge, and say."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--partitions", type=int, default=100_000)
    parser.add_argument("--slots", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=3.0, help="of a partition, of some million rows")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    ended, ideal, attempts = schedule(options.partitions, options.slots, options.seconds, seed=0)
    prepared, size = driver(options.partitions)
    said = {
        "partitions": options.partitions, "slots": options.slots, "seconds_if_nothing_failed": round(ideal, 1),
        "seconds": round(ended, 1), "attempts": attempts, **merge(options.partitions), "driver_seconds": round(prepared, 3),
        "driver_bytes": size,
    }  # fmt: skip
    print(json.dumps(said, indent=1))
    sys.exit(1 if said["rows_lost_or_twice"] or said["difference"] > 1e-9 else 0)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""peers_simpy.py FLOWS...: the flows of `simgrid flows` by SimPy, completions a second and the ratio as JSON, medians and spread.

SimPy has no shared links: max-min sharing stands here in Python, over SimPy's events. A second run without sharing, every flow at its
cap, is the least that SimPy needs for the same number of completions.
"""
import json
import statistics
import sys
import time

import simpy


class Links:
    """Running flows; at each start or end of one, rates by progressive filling and one timeout at the next end."""

    def __init__(self, env, capacities):
        self.env = env
        self.capacities = capacities
        self.left, self.rate, self.flows = {}, {}, {}
        self.since = 0.0
        self.version = 0

    def move(self, flow):
        done = self.env.event()
        self.advance()
        self.left[flow] = flow[0]
        self.flows[flow] = done
        self.share()
        return done

    def advance(self):
        span = self.env.now - self.since
        self.since = self.env.now
        for flow, rate in self.rate.items():
            self.left[flow] -= rate * span

    def fill(self):
        free = dict(enumerate(self.capacities))
        users = {}
        for flow in self.flows:
            for link in flow[2]:
                users.setdefault(link, set()).add(flow)
        open_flows, rate = set(self.flows), {}
        while open_flows:
            level, full = min(((free[link] / len(of), link) for link, of in users.items() if of), default=(float('inf'), None))
            capped = [flow for flow in open_flows if flow[1] <= level]
            for flow in capped or list(users[full]):
                rate[flow] = flow[1] if capped else level
                open_flows.discard(flow)
                for link in flow[2]:
                    users[link].discard(flow)
                    free[link] -= rate[flow]
        return rate

    def share(self):
        self.rate = self.fill()
        self.version += 1
        if self.rate:
            next_s = min(self.left[flow] / rate for flow, rate in self.rate.items())
            self.env.timeout(max(next_s, 0), self.version).callbacks.append(self.end)

    def end(self, timeout):
        if timeout.value != self.version:
            return
        self.advance()
        for flow in [flow for flow in self.flows if self.left[flow] <= 1e-9 * flow[0]]:
            self.flows.pop(flow).succeed()
            del self.left[flow], self.rate[flow]
        self.share()


def run(flows, after, capacities):
    """Ends of the flows; capacities None: every flow at its cap."""
    env = simpy.Environment()
    links = capacities and Links(env, capacities)
    ends, processes = [0.0] * len(flows), []

    def process(i):
        if after[i]:
            yield simpy.AllOf(env, [processes[k] for k in after[i]])
        yield links.move(flows[i]) if links else env.timeout(flows[i][0] / flows[i][1])
        ends[i] = env.now

    for i in range(len(flows)):
        processes.append(env.process(process(i)))
    env.run()
    return ends


def compare(path):
    """Completions a second of the engine and of both runs of SimPy, and the worst difference of an end."""
    with open(path, encoding='ascii') as file:
        ours_s = float(file.readline())
        capacities = [float(word) for word in file.readline().split()]
        rows = [[float(word) for word in line.split()] for line in file]
    flows = [(row[0], row[1], tuple(int(link) for link in row[2:5] if link >= 0), i) for i, row in enumerate(rows)]
    after = [sorted({int(k) for k in row[5:7] if k >= 0}) for row in rows]
    rates = {'': len(rows) / ours_s}
    for key, links in (('simpy_', capacities), ('simpy_without_sharing_', None)):
        start_s = time.process_time()
        ends = run(flows, after, links)
        rates[key] = len(rows) / (time.process_time() - start_s)
        if links:
            worst = max(abs(end / row[7] - 1) for end, row in zip(ends, rows))
    return len(rows), rates, worst


def spread(values):
    return {'median': float(f'{statistics.median(values):.4g}'), 'min': float(f'{min(values):.4g}'),
            'max': float(f'{max(values):.4g}')}


def main():
    runs = [compare(path) for path in sys.argv[1:]]
    worst = max(run[2] for run in runs)
    print(json.dumps({'bench': 'simpy', 'version': simpy.__version__, 'n_flows': runs[0][0], 'runs': len(runs),
                      'worst_difference_frac': worst,
                      **{key + 'completions_per_s': spread([rates[key] for _, rates, _ in runs]) for key in runs[0][1]},
                      **{key + 'ratio': spread([rates[''] / rates[key] for _, rates, _ in runs]) for key in runs[0][1] if key}}))
    return 0 if worst < 1e-6 else 1


sys.exit(main())

# SPDX-License-Identifier: GPL-3.0-or-later
"""replay.py LOG FOLDER POINTS SEED [DROPS]: what a database may be after the power failed at POINTS random moments of LOG (record.c).

What was written before the last sync of a file is there. Of what was written later every write is there, is not, or is there up to a
sector of 512 bytes, each by itself; files made and removed since the last sync of their folder are so in the order in which they were.
Each such database must open, be intact, and hold every row that was committed, with its final contents. The last states are left below
FOLDER as N/runs.db. DROPS=lie takes every sync for none: the test of this test, which must fail."""
import os
import random
import shutil
import sqlite3
import struct
import sys

SECTOR = 512


class Inode:
    def __init__(self):
        self.durable, self.volatile, self.pending = bytearray(), bytearray(), []


def apply(content, op):
    kind, at, data = op
    if kind == "T":
        del content[at:]
        content.extend(bytes(at - len(content)))
    else:
        content.extend(bytes(max(0, at + len(data) - len(content))))
        content[at : at + len(data)] = data


class Disk:
    def __init__(self):
        self.durable, self.volatile, self.pending = {}, {}, []  # names of the folder

    def do(self, kind, name, at, data, has_sync):
        if kind == "O" and name not in self.volatile:
            self.volatile[name] = Inode()
            self.pending.append((name, self.volatile[name]))
        elif kind == "U":
            self.volatile.pop(name, None)
            self.pending.append((name, None))
        elif kind in "WT":
            inode = self.volatile[name]
            apply(inode.volatile, (kind, at, data))
            inode.pending.append((kind, at, data))
        elif kind == "S" and has_sync:
            inode = self.volatile[name]
            inode.durable, inode.pending = bytearray(inode.volatile), []
        elif kind == "D" and has_sync:
            self.durable, self.pending = dict(self.volatile), []

    def write_volatile(self, folder):
        write(folder, {name: inode.volatile for name, inode in self.volatile.items()})

    def write_lost(self, folder, rng):
        names = dict(self.durable)
        for name, inode in self.pending[: rng.randint(0, len(self.pending))]:
            names[name] = inode
        write(folder, {name: lost(inode, rng) for name, inode in names.items() if inode})


def lost(inode, rng):
    content = bytearray(inode.durable)
    kept = rng.choice([0, 0.1, 0.5, 0.9, 1])
    for kind, at, data in inode.pending:
        if rng.random() > kept:
            if kind == "T" or rng.random() < 0.7:
                continue
            data = data[: rng.randint(0, len(data) // SECTOR) * SECTOR]
        apply(content, (kind, at, data))
    return content


def write(folder, files):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name, content in files.items():
        with open(os.path.join(folder, name), "wb") as out:
            out.write(content)


def rows(folder):
    """Contents by key; None: damaged."""
    path = os.path.join(folder, "runs.db")
    if not os.path.exists(path):
        return {}
    copy = folder + ".read"  # reading recovers, and the state is to stay
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    try:
        db = sqlite3.connect(os.path.join(copy, "runs.db"))
        if db.execute("pragma integrity_check").fetchall() != [("ok",)]:
            return None
        if not db.execute("select 1 from sqlite_schema where name = 'v_runs'").fetchall():
            return {}
        names = [column[0] for column in db.execute("select * from v_runs limit 0").description]
        return {row[names.index("key")]: row for row in db.execute("select * from v_runs")}
    except sqlite3.DatabaseError as error:
        print(error)
        return None
    finally:
        db.close()


def read_log(path):
    with open(path, "rb") as log:
        while head := log.read(19):
            kind, n_name, at, n_data = struct.unpack("<cHqQ", head)
            kind = kind.decode()
            name = log.read(n_name).decode()
            yield kind, name, at, log.read(n_data) if kind == "W" else b""


def main(log, top, n_points, seed, has_sync):
    ops = list(read_log(log))
    rng = random.Random(seed)
    points = sorted(rng.randrange(len(ops)) for _ in range(n_points))
    final = Disk()
    for op in ops:
        final.do(*op, True)
    final.write_volatile(top + "/final")
    whole = rows(top + "/final")
    disk, committed, n_committed, n_bad, n_rows, n = Disk(), {}, 0, 0, 0, 0
    is_stale = False  # committed is not yet known
    for i, op in enumerate(ops):
        disk.do(*op, has_sync)
        if op[0] == "C":
            n_committed += 1
            disk_at_commit = {name: bytes(inode.volatile) for name, inode in disk.volatile.items()}
            is_stale = True
        while n < len(points) and points[n] == i:
            if is_stale:
                write(top + "/committed", disk_at_commit)
                committed, is_stale = rows(top + "/committed"), False
            folder = f"{top}/{n}"
            disk.write_lost(folder, rng)
            found = rows(folder)
            n += 1
            if found is None:
                print(f"power lost after operation {i} of {len(ops)}: damaged")
                n_bad += 1
            elif lacking := [key for key in committed if found.get(key) != whole[key]]:
                print(f"power lost after operation {i} of {len(ops)}: {len(lacking)} of {len(committed)} committed rows are lost")
                n_bad += 1
            elif any(whole.get(key) != row for key, row in found.items()):
                print(f"power lost after operation {i} of {len(ops)}: rows that were never there")
                n_bad += 1
            else:
                n_rows += len(found)
            if n % 10:
                shutil.rmtree(folder)
    print(f"{len(points)} losses of power among {len(ops)} operations and {n_committed} commits of {len(whole)} rows: {n_bad} bad")
    return n_bad > 0 or n_committed < 10


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:] != ["lie"]))

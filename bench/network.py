# SPDX-License-Identifier: Apache-2.0
"""What the relay of restricted mode costs, beside the same work over loopback without it; ratios, taken in turns.

usage: network.py HARN [--connections N] [--rounds N]
Targets: throughput of one stream at least 0.60 of direct, processor time of everybody (client, relay, receiver) at most 2.0 times, 300 µs more to connect (median),
1 000 connections at one time, 100 000 short ones without a leak (./dev soak).
"""
import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/network"))
import ground  # noqa: E402

SINK, ECHO = 7101, 7102
MEGABYTES = 1500
CONNECTS = 400

CLIENT = """
import json, os, socket, sys, time
kind, address, count = sys.argv[1], (sys.argv[2], int(sys.argv[3])), int(sys.argv[4])
if kind == 'stream':
    block = bytes(1 << 20)
    start = time.perf_counter()
    with socket.create_connection(address) as s:
        for _ in range(count): s.sendall(block)
        s.shutdown(socket.SHUT_WR)
        s.recv(1)
    print(json.dumps(time.perf_counter() - start))
if kind == 'connect':
    took = []
    for _ in range(count):
        start = time.perf_counter()
        with socket.create_connection(address) as s:
            s.sendall(b'x')
            s.recv(1)
            took.append(time.perf_counter() - start)
    print(json.dumps(took))
if kind == 'short':
    wrong = 0
    for i in range(count):
        with socket.create_connection(address) as s:
            s.sendall(b'y')
            wrong += s.recv(1) != b'y'
    print(json.dumps(wrong))
"""


def serve(port, act):
    server = ground.listener(port)
    server.listen(4096)

    def loop():
        while True:
            act(server.accept()[0])

    threading.Thread(target=loop, daemon=True).start()


def serve_apart(port):
    """The sink is a process: a thread of ours would share its processor time with the echo. Its number."""
    server = ground.listener(port)
    pid = os.fork()
    if pid == 0:
        buffer = bytearray(1 << 20)
        while True:
            client, _ = server.accept()
            with client:
                while client.recv_into(buffer):
                    pass
                client.sendall(b"k")
    server.close()
    return pid


def echo(client):
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with client:
        data = client.recv(100)
        if data:
            client.sendall(data)


def cpu_of_children():
    used = os.times()
    return used.children_user + used.children_system


def cpu_of(pid):
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


class Bench:
    def __init__(self, harn):
        self.place = ground.Place(harn)
        with open(self.place.project + "/client.py", "w", encoding="ascii") as file:
            file.write(CLIENT)
        ground.Resolver({"good.test": [["93.184.216.35"]]}, ttl=300)
        self.sink = serve_apart(SINK)
        serve(ECHO, echo)

    def client(self, kind, port, count, relayed):
        words = ["/usr/bin/python3", "client.py", kind, "good.test" if relayed else "127.0.0.1", str(port), str(count)]
        flags = [w for p in (SINK, ECHO) for w in ("--allow-host", f"good.test:{p}")]
        before = cpu_of_children() + cpu_of(self.sink)
        result = subprocess.run([self.place.harn, "run", *flags, "--", *words] if relayed else words, cwd=self.place.project, env=self.place.environment(),
                                capture_output=True, text=True, timeout=900, check=True)
        return json.loads(result.stdout), cpu_of_children() + cpu_of(self.sink) - before

    def stream(self, rounds):
        ratios, cpu = [], []
        for _ in range(rounds):
            direct, direct_cpu = self.client("stream", SINK, MEGABYTES, False)
            relayed, relayed_cpu = self.client("stream", SINK, MEGABYTES, True)
            ratios.append(direct / relayed)
            cpu.append(relayed_cpu / direct_cpu)
        print(f"one stream, throughput of direct loopback   {statistics.median(ratios):.2f}   (at least 0.60)   {MEGABYTES / relayed:.0f} MB/s at last")
        print(f"one stream, processor time of everybody     {statistics.median(cpu):.2f} ×  (at most 2.0)")

    def connect(self, rounds):
        added = []
        for _ in range(rounds):
            direct, _ = self.client("connect", ECHO, CONNECTS, False)
            relayed, _ = self.client("connect", ECHO, CONNECTS, True)
            added.append(statistics.median(relayed) - statistics.median(direct))
        print(f"connecting and one byte there and back      +{statistics.median(added) * 1e6:.0f} µs (less than 300)")

    def short(self, count):
        """The relay's memory is looked at from the first thousand connections to the end."""
        words = [self.place.harn, "run", "--allow-host", f"good.test:{ECHO}", "--", "/usr/bin/python3", "client.py", "short", "good.test", str(ECHO), str(count)]
        start, sizes = time.monotonic(), []
        with subprocess.Popen(words, cwd=self.place.project, env=self.place.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as run:
            while run.poll() is None:
                time.sleep(0.5)
                for relay in ground.relays_of(run.pid):
                    try:
                        with open(f"/proc/{relay}/status", encoding="ascii") as file:
                            sizes += [int(line.split()[1]) for line in file if line.startswith("VmRSS")]
                    except OSError:
                        pass
            wrong = json.loads(run.stdout.read())
        grown = sizes[-1] - sizes[0] if sizes else 0
        print(f"{count} short connections, one after the other: {wrong} wrong, {count / (time.monotonic() - start):.0f} per second, the relay grew by {grown} KiB")
        return wrong == 0 and grown < 2048


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("harn")
    parser.add_argument("--connections", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    ground.enter()
    bench = Bench(given.harn)
    bench.stream(given.rounds)
    bench.connect(given.rounds)
    fine = bench.short(given.connections)
    bench.place.remove()
    os._exit(0 if fine else 1)

# SPDX-License-Identifier: Apache-2.0
"""A network of its own for tests: every address leads to servers of the test, nothing leaves the machine.

enter() moves this process into fresh user and network namespaces in which all of IPv4 and IPv6 is local; Victim
serves any address at some ports and keeps what it is told; Resolver answers from a table.
"""
import ctypes
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SKIPPED = 77
PRETEND = {key: value for key, value in os.environ.items() if key == "HARN_PRETEND" and value}
BARE = "userns=no" in PRETEND.get("HARN_PRETEND", "")  # no namespaces: the supervisor leads connections to the relay


def skip(why):
    """A visible skip, or a failure where HARN_REQUIRE asks for namespaces."""
    print(f"skipped: {why}")
    sys.exit(1 if "userns" in os.environ.get("HARN_REQUIRE", "").split(",") else SKIPPED)


def _netlink(kind, body):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as channel:
        channel.send(struct.pack("IHHII", 16 + len(body), kind, 0x605, 1, 0) + body)
        error = struct.unpack_from("i", channel.recv(4096), 16)[0]
    if error:
        raise OSError(-error, os.strerror(-error))


def enter():
    uid, gid = os.getuid(), os.getgid()
    if LIBC.unshare(CLONE_NEWNET | (CLONE_NEWUSER if uid else 0)) != 0:
        skip(f"no network namespace: {os.strerror(ctypes.get_errno())}")
    if uid:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14x", b"lo", 0x41))
    interface = struct.pack("HHI", 8, 4, 1)
    for family, scope in ((socket.AF_INET, 254), (socket.AF_INET6, 0)):
        _netlink(24, struct.pack("BBBBBBBBI", family, 0, 0, 0, 255, 4, scope, 2, 0) + interface)


def listener(port, kind=socket.SOCK_STREAM):
    made = socket.socket(socket.AF_INET6, kind)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    made.bind(("::", port))
    if kind == socket.SOCK_STREAM:
        made.listen(128)
    else:
        made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
        made.setsockopt(socket.IPPROTO_IPV6, 78, 1)  # IPV6_FREEBIND: answer from any address
    return made


def receive(server):
    """A datagram, and how to answer it from the address it was sent to."""
    data, notes, _, peer = server.recvmsg(4096, 200)
    own = next(note for level, kind, note in notes if kind == socket.IPV6_PKTINFO)
    note = (socket.IPPROTO_IPV6, socket.IPV6_PKTINFO, own[:16] + bytes(4))
    return data, lambda answer: server.sendmsg([answer], [note], 0, peer)


class Victim:
    """Answers "TAG" with "echo TAG ADDRESS", the address it was reached at; remembers every tag."""

    def __init__(self, tcp=(), udp=()):
        self.tags = {}
        for port in tcp:
            threading.Thread(target=self._accept, args=(listener(port),), daemon=True).start()
        for port in udp:
            threading.Thread(target=self._receive, args=(listener(port, socket.SOCK_DGRAM),), daemon=True).start()

    def _accept(self, server):
        while True:
            client, _ = server.accept()
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        try:
            with client:
                client.settimeout(5)
                tag = client.recv(100).decode(errors="replace").strip()
                address = client.getsockname()[0].removeprefix("::ffff:")
                if tag:
                    self.tags[tag] = address
                client.sendall(f"echo {tag} {address}\n".encode())
        except OSError:
            pass

    def _receive(self, server):
        while True:
            data, answer = receive(server)
            tag = data.decode(errors="replace").strip()
            self.tags[tag] = "udp"
            answer(f"echo {tag}".encode())


class Resolver:
    """name -> list of answers, each a list of addresses or "=alias"; the last one stays."""

    def __init__(self, table, port=53, ttl=0):
        self.table, self.asked, self.ttl, self.counts = table, [], ttl, {}
        self.socket = listener(port, socket.SOCK_DGRAM)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            message, answer = receive(self.socket)
            try:
                answer(self._answer(message))
            except (IndexError, OSError, UnicodeDecodeError):
                pass

    def _answer(self, message):
        at, labels = 12, []
        while message[at]:
            labels.append(message[at + 1 : at + 1 + message[at]].decode("ascii"))
            at += message[at] + 1
        name, kind = ".".join(labels).lower(), struct.unpack(">H", message[at + 1 : at + 3])[0]
        self.asked.append(name)
        answers = self.table.get(name)
        for start in range(1, len(labels)):
            answers = answers or self.table.get(".".join(["*", *labels[start:]]).lower())
        records = []
        if answers:
            turn = self.counts.get((name, kind), 0)
            self.counts[name, kind] = turn + 1
            records = self._records(b"\xc0\x0c", answers[min(turn, len(answers) - 1)], kind)
        head = message[:2] + struct.pack(">HHHHH", 0x8180 | (0 if answers else 3), 1, len(records), 0, 0)
        return head + message[12 : at + 5] + b"".join(records)

    def _records(self, owner, entries, kind):
        records = []
        for entry in entries:
            if entry.startswith("="):
                alias = b"".join(bytes([len(p)]) + p.encode() for p in entry[1:].split(".")) + b"\0"
                records.append(owner + struct.pack(">HHIH", 5, 1, self.ttl, len(alias)) + alias)
                records += self._records(alias, self.table[entry[1:]][0], kind)
            elif (":" in entry) == (kind == 28):
                raw = socket.inet_pton(socket.AF_INET6 if ":" in entry else socket.AF_INET, entry)
                records.append(owner + struct.pack(">HHIH", kind, 1, self.ttl, len(raw)) + raw)
        return records


def relays_of(pid):
    """Relay processes a launcher started."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/status", encoding="ascii") as file:
                status = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
        except OSError:
            continue
        if status.get("PPid") == str(pid) and "relay" in status.get("Name", "") + open(f"/proc/{name}/cmdline", encoding="ascii").read():
            found.append(int(name))
    return found


class Place:
    """A directory everybody may enter, with a copy of harn and of the test's own files."""

    def __init__(self, harn, *files):
        self.path = tempfile.mkdtemp(prefix="harn-network-", dir="/var/tmp")
        os.chmod(self.path, 0o755)
        self.harn = shutil.copy(harn, self.path + "/harn")
        self.project, self.home = self.path + "/project", self.path + "/home"
        for directory in (self.project, self.home):
            os.mkdir(directory)
        for file in files:
            shutil.copy(file, self.project)

    def environment(self, **more):
        return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": self.home, "LANG": "C", "HARN_EGRESS_RESOLVER": "127.0.0.1", **PRETEND, **more}

    def run(self, words, **options):
        """An unconfined command, the same way."""
        options.setdefault("env", self.environment())
        return subprocess.run(words, cwd=self.project, capture_output=True, text=True, timeout=60, check=False, **options)

    def harn_run(self, flags, words, **options):
        return self.run([self.harn, "run", *flags, "--", *words], **options)

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)

# SPDX-License-Identifier: Apache-2.0
"""Runs inside: tries every way out it is told about and prints what became of each, as JSON."""
import ctypes
import json
import os
import socket
import struct
import sys
import time

RESOLVER = sys.argv[1]
PROXY = ("127.0.0.1", 3128)
LIBC = ctypes.CDLL(None, use_errno=True)
PATIENCE = 4


def talk(connection, tag):
    connection.settimeout(PATIENCE)
    connection.sendall(tag.encode())
    answer = connection.recv(200).decode(errors="replace")
    return "reached " + answer.split()[2] if answer.startswith(f"echo {tag} ") else f"closed {answer[:20]!r}"


def encode_name(labels):
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


def ask(question, kind=1, server=None, tcp=False):
    """The addresses, or the code of the answer."""
    message = struct.pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + question + struct.pack(">HH", kind, 1)
    where = (server or RESOLVER, 53)
    if tcp:
        with socket.create_connection(where, PATIENCE) as channel:
            channel.sendall(struct.pack(">H", len(message)) + message)
            answer = channel.recv(4096)[2:]
    else:
        with socket.socket(socket.AF_INET6 if ":" in where[0] else socket.AF_INET, socket.SOCK_DGRAM) as channel:
            channel.settimeout(PATIENCE)
            channel.sendto(message, where)
            answer, peer = channel.recvfrom(4096)
            assert peer[0] == where[0] or peer[0].endswith("127.0.0.1"), peer  # led to the relay's own
    code, count = answer[3] & 15, struct.unpack(">H", answer[6:8])[0]
    if code or not count:
        raise LookupError(f"dns {code}")
    size = 4 if kind == 1 else 16
    return socket.inet_ntop(socket.AF_INET if kind == 1 else socket.AF_INET6, answer[-size:])


def connect(tag, address, port, family=0):
    family = family or (socket.AF_INET6 if ":" in address else socket.AF_INET)
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(PATIENCE)
        connection.connect((address, port))
        return talk(connection, tag)


def by_name(tag, name, port, kind=1, server=None, tcp=False):
    return connect(tag, ask(encode_name([p.encode() for p in name.split(".") if p]), kind, server, tcp), port)


def by_labels(tag, labels, port):
    return connect(tag, ask(encode_name([bytes.fromhex(label) for label in labels])), port)


def twice(tag, name, port):
    """Resolves once, waits until the answer is old, then connects again to the address it was given."""
    address = ask(encode_name([p.encode() for p in name.split(".")]))
    first = connect(tag + "-first", address, port)
    if not first.startswith("reached"):
        return "broken " + first
    time.sleep(1.3)
    return connect(tag, address if RESOLVER != "127.0.0.1" else ask(encode_name([p.encode() for p in name.split(".")])), port)


def socks(tag, host, port, command=1, kind=3):
    with socket.create_connection(PROXY, PATIENCE) as connection:
        connection.sendall(b"\x05\x01\x00")
        connection.recv(2)
        if kind == 3:
            raw = bytes.fromhex(host[4:]) if host.startswith("hex:") else host.encode()
            raw = bytes([len(raw)]) + raw
        else:
            raw = socket.inet_pton(socket.AF_INET if kind == 1 else socket.AF_INET6, host)
        connection.sendall(bytes([5, command, 0, kind]) + raw + struct.pack(">H", port))
        answer = connection.recv(10)
        return talk(connection, tag) if answer[1:2] == b"\0" else f"socks {answer[1:2].hex()}"


def tunnel(tag, head):
    with socket.create_connection(PROXY, PATIENCE) as connection:
        connection.sendall(head.encode("latin-1") + b"\r\n\r\n")
        answer = connection.recv(500)
        return talk(connection, tag) if b" 200 " in answer[:20] else f"http {answer[9:12].decode()}"


def send_udp(tag, address, port):
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as channel:
        channel.settimeout(1)
        channel.connect((address, port))
        channel.send(tag.encode())
        return "reached udp" if channel.recv(100) else "closed"


def family(tag, number, kind, protocol):
    with socket.socket(number, kind, protocol):
        return "reached socket"


def stream_of(tag, protocol, address, port):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as connection:
        connection.settimeout(PATIENCE)
        connection.connect((address, port))
        return talk(connection, tag)


def fast_open(tag, address, port):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
        connection.sendto(tag.encode(), 0x20000000, (address, port))
        connection.settimeout(PATIENCE)
        answer = connection.recv(200)
        return "reached" if answer.startswith(b"echo") else "closed"


def call(tag, number, *arguments):
    if LIBC.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return "reached call"


def change_route(tag):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as channel:
        body = struct.pack("BBBBBBBBI", socket.AF_INET, 32, 0, 0, 255, 4, 254, 2, 0) + struct.pack("HH4s", 8, 1, b"\x09\x09\x09\x09") + struct.pack("HHI", 8, 4, 1)
        channel.send(struct.pack("IHHII", 16 + len(body), 24, 0x605, 1, 0) + body)
        error = struct.unpack_from("i", channel.recv(4096), 16)[0]
    return "reached route" if error == 0 else f"netlink {-error}"


def abstract(tag, name):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(PATIENCE)
        connection.connect("\0" + name)
        return talk(connection, tag)


def inherited(tag, number):
    with socket.socket(fileno=os.dup(number)) as connection:
        return talk(connection, tag)


def rewrite(tag, path):
    with open(path, "a", encoding="ascii") as file:
        file.write("")
    return "reached file"


def serve(tag, port):
    """What waits at a port of ours cannot be put out of place."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("0.0.0.0", port))
        server.listen(1)
        return "reached bind"


def option(tag, kind, level, name, value):
    """Something about a socket that would lead its packets elsewhere."""
    with socket.socket(socket.AF_INET6 if level == 41 else socket.AF_INET, kind) as channel:
        channel.setsockopt(level, name, bytes.fromhex(value))
        return "reached option"


def shares(tag, name):
    """A port that somebody else of the host has."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        channel.setsockopt(socket.SOL_SOCKET, name, 1)
        channel.bind(("127.0.0.1", 0))
        shared, own = channel.getsockopt(socket.SOL_SOCKET, name), channel.getsockname()[1]
        return "reached port" if shared or own else "refused"


def by_note(tag, address, port):
    """To the resolver by its address, to somebody else by what is sent along."""
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as channel:
        route = bytes([0, 2, 2, 1, 0, 0, 0, 0]) + socket.inet_pton(socket.AF_INET6, address)
        channel.sendmsg([tag.encode()], [(41, 57, route)], 0, ("::1", port))
        channel.settimeout(1)
        return "reached " + channel.recv(100).decode()


def anew(tag, first, second, port):
    """Let go of a connection that was allowed, and connect again."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
        connection.connect((first, port))
        LIBC.connect(connection.fileno(), bytes(16), 16)
        connection.connect((second, port))
        return talk(connection, tag)


ACTS = {f.__name__: f for f in (connect, by_name, by_labels, twice, socks, tunnel, send_udp, family, stream_of, fast_open, call, change_route, abstract, inherited, rewrite, serve, option, shares, by_note, anew)}
told = {}
for row in json.load(sys.stdin):
    try:
        told[row["id"]] = ACTS[row["act"]](row["id"], *row["args"])
    except (OSError, LookupError, ValueError, AssertionError) as error:
        told[row["id"]] = f"{type(error).__name__} {error}"
print(json.dumps(told))

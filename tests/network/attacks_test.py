# SPDX-License-Identifier: Apache-2.0
"""Every way out of a restricted network we know, each beside a control run in which it works.

usage: attacks_test.py HARN
Controls: "bare" without harn; "open" inside harn with rules that admit the target; "none" where nothing could show it.
A row that is lawful must be reached confined as well.
"""
import json
import os
import socket
import sys
import threading

import ground

PORT, OTHER, UDP = 7001, 7002, 7003
INHERITED = 200
PUBLIC, ELSEWHERE = "93.184.216.34", "8.8.8.8"
ALLOWED = ["good.test:7001", "*.wild.test:7001", "cname.test:7001", "private.test:7001", "meta.test:7001", "mapped.test:7001", "nat64.test:7001",
           "sixto4.test:7001", "compatible.test:7001", "rebind.test:7001", "mixed.test:7001", "loop.test:7001", "zero.test:7001", "v6.test:7001",
           "alias.test:7001", "denied.wild.test:7001", PUBLIC + ":7001"]
OPEN = ["evil.test", "localhost", "127.0.0.1", "::1", "10.0.0.0/8", "169.254.0.0/16", "8.8.8.8", "good.test", "fc00::/7", "64:ff9b::/96", "2002::/16", "0.0.0.0/8"]
NAMES = {
    "good.test": [["93.184.216.35"]], "evil.test": [["93.184.216.66"]], "*.wild.test": [["93.184.216.36"]], "wild.test": [["93.184.216.37"]],
    "private.test": [["10.0.0.5"]], "meta.test": [["169.254.169.254"]], "cname.test": [["=internal.test"]], "internal.test": [["10.0.0.6"]],
    "mapped.test": [["::ffff:10.0.0.7"]], "nat64.test": [["64:ff9b::a00:8"]], "sixto4.test": [["2002:a00:9::1"]], "compatible.test": [["::10.0.0.4"]],
    "rebind.test": [["93.184.216.38"], ["10.0.0.9"]], "mixed.test": [["10.0.0.10", "93.184.216.39"]], "loop.test": [["127.0.0.1"]],
    "zero.test": [["0.0.0.0"]], "v6.test": [["2600::1"]], "alias.test": [["=denied.wild.test"]], "denied.wild.test": [["93.184.216.40"]],
    "good.test.evil.test": [["93.184.216.41"]], "xgood.test": [["93.184.216.42"]], "xn--god-sna.test": [["93.184.216.43"]],
}


def row(name, act, *args, control="bare", lawful=False):
    return {"id": name, "act": act, "args": list(args), "control": control, "lawful": lawful}


def literal(name, address, control="bare"):
    return row("literal-" + name, "connect", address, PORT, control=control)


def named(name, host, kind=1, **more):
    return row("name-" + name, "by_name", host, PORT, kind, **more)


def hexed(*labels):
    return [label.encode().hex() for label in labels]


ROWS = [
    row("inherited", "inherited", INHERITED),
    # addresses, in every spelling the system understands
    row("literal-allowed", "connect", PUBLIC, PORT, lawful=True),
    literal("public", ELSEWHERE), literal("loopback", "127.0.0.1"), literal("loopback-2", "127.0.0.2"), literal("short", "127.1"),
    literal("number", "2130706433"), literal("hexadecimal", "0x7f000001"), literal("octal", "017700000001"), literal("zero", "0.0.0.0"),
    literal("private-10", "10.0.0.1"), literal("private-172", "172.16.0.1"), literal("private-192", "192.168.1.1"),
    literal("metadata", "169.254.169.254"), literal("shared", "100.64.0.1"), literal("benchmark", "198.18.1.0"), literal("made-up", "198.18.200.200"),
    literal("reserved", "240.0.0.1", control="none"), literal("resolver", "192.0.0.8"), literal("neighbour", "93.184.216.33"),
    row("literal-other-port", "connect", PUBLIC, OTHER),
    literal("loopback6", "::1"), literal("mapped", "::ffff:10.0.0.1"), literal("mapped-loopback", "::ffff:127.0.0.1"),
    row("literal-mapped-allowed", "connect", "::ffff:" + PUBLIC, PORT, lawful=True),
    literal("nat64", "64:ff9b::a9fe:a9fe"), literal("sixto4", "2002:7f00:1::1"), literal("teredo", "2001::1"), literal("unique-local", "fd00:ec2::254"),
    literal("public6", "2600::2"), literal("unspecified6", "::"),
    # names
    named("allowed", "good.test", lawful=True), named("letters", "GOOD.Test", lawful=True), named("beneath-wildcard", "a.b.wild.test", lawful=True),
    named("v6", "v6.test", 28, lawful=True), named("mixed", "mixed.test", lawful=True),
    named("unknown", "evil.test"), named("wildcard-itself", "wild.test"), named("longer", "good.test.evil.test"), named("prefixed", "xgood.test"),
    named("look-alike", "xn--god-sna.test"), named("denied", "denied.wild.test"), named("alias-to-denied", "alias.test"),
    named("private", "private.test"), named("metadata", "meta.test"), named("alias-to-private", "cname.test"), named("mapped", "mapped.test", 28),
    named("nat64", "nat64.test", 28), named("sixto4", "sixto4.test", 28), named("compatible", "compatible.test", 28), named("loopback", "loop.test"),
    named("zero", "zero.test"),
    row("name-rebinding", "twice", "rebind.test", PORT),
    row("name-other-port", "by_name", "good.test", OTHER),
    row("name-other-resolver", "by_name", "evil.test", PORT, 1, "9.9.9.9"), row("name-other-resolver6", "by_name", "evil.test", PORT, 1, "2620:fe::fe"),
    row("name-other-resolver-allowed", "by_name", "good.test", PORT, 1, "9.9.9.9", lawful=True),
    row("name-other-resolver6-allowed", "by_name", "good.test", PORT, 1, "2620:fe::fe", lawful=True),
    row("name-over-tcp", "by_name", "evil.test", PORT, 1, None, True, control="open"),
    row("name-over-tcp-allowed", "by_name", "good.test", PORT, 1, None, True, control="open", lawful=True),
    row("name-nul", "by_labels", hexed("good.test\0", "evil"), PORT, control="none"), row("name-dot-in-label", "by_labels", hexed("good.test"), PORT, control="none"),
    row("name-percent", "by_labels", hexed("%67ood", "test"), PORT, control="none"), row("name-user", "by_labels", hexed("good.test@evil", "test"), PORT, control="none"),
    row("name-tunnel", "by_name", ".".join(["a" * 50] * 4) + ".wild.test", PORT, control="none"),
    # proxies
    row("socks-allowed", "socks", "good.test", PORT, control="open", lawful=True), row("socks-dot", "socks", "good.test.", PORT, control="open", lawful=True),
    row("socks-name", "socks", "evil.test", PORT, control="open"), row("socks-loopback", "socks", "127.0.0.1", PORT, 1, 1, control="open"),
    row("socks-loopback6", "socks", "::1", PORT, 1, 4, control="open"), row("socks-mapped", "socks", "::ffff:127.0.0.1", PORT, 1, 4, control="open"),
    row("socks-metadata", "socks", "169.254.169.254", PORT, 1, 1, control="open"), row("socks-localhost", "socks", "localhost", PORT, control="open"),
    row("socks-port", "socks", "good.test", OTHER, control="open"), row("socks-short", "socks", "127.1", PORT, control="none"),
    row("socks-hexadecimal", "socks", "0x7f.0.0.1", PORT, control="none"), row("socks-nul", "socks", "hex:676f6f642e74657374002e6576696c", PORT, control="none"),
    row("socks-bind", "socks", "good.test", PORT, 2, control="none"), row("socks-udp", "socks", "good.test", PORT, 3, control="none"),
    row("connect-allowed", "tunnel", "CONNECT good.test:7001 HTTP/1.1\r\nHost: evil.test:7001", control="open", lawful=True),
    row("connect-name", "tunnel", "CONNECT evil.test:7001 HTTP/1.1", control="open"), row("connect-loopback", "tunnel", "CONNECT 127.0.0.1:7001 HTTP/1.1", control="open"),
    row("connect-loopback6", "tunnel", "CONNECT [::1]:7001 HTTP/1.1", control="open"), row("connect-localhost", "tunnel", "CONNECT localhost:7001 HTTP/1.1", control="open"),
    row("connect-port", "tunnel", "CONNECT good.test:7002 HTTP/1.1", control="open"), row("connect-relay", "tunnel", "CONNECT 127.0.0.1:3128 HTTP/1.1", control="none"),
    row("connect-user", "tunnel", "CONNECT good.test:7001@127.0.0.1:7001 HTTP/1.1", control="none"), row("connect-zone", "tunnel", "CONNECT [::1%25lo]:7001 HTTP/1.1", control="none"),
    row("connect-percent", "tunnel", "CONNECT good%2etest:7001 HTTP/1.1", control="none"), row("connect-get", "tunnel", "GET http://good.test:7001/ HTTP/1.1", control="none"),
    # other protocols, and ways around sockets
    row("udp", "send_udp", PUBLIC, UDP), row("udp-loopback", "send_udp", "127.0.0.1", UDP), row("udp6", "send_udp", "2600::1", UDP), row("quic", "send_udp", PUBLIC, 443),
    row("raw-icmp", "family", 2, 3, 1), row("raw-tcp", "family", 2, 3, 6), row("packet", "family", 17, 3, 0x0300), row("ping", "family", 2, 2, 1, control="none"),
    row("vsock", "family", 40, 1, 0, control="none"), row("smc", "family", 43, 1, 0, control="none"), row("sctp", "family", 2, 1, 132, control="none"),
    row("dccp", "family", 2, 6, 33, control="none"), row("multipath", "stream_of", 262, PUBLIC, PORT), row("fast-open", "fast_open", ELSEWHERE, PORT),
    row("io-uring", "call", 425, 8, 0, control="none"), row("new-network", "call", 272, 0x40000000, control="none"), row("change-route", "change_route"),
    row("abstract-socket", "abstract", "harn-network-test"), row("edit-resolver", "rewrite", "/etc/resolv.conf", control="none"),
    row("edit-hosts", "rewrite", "/etc/hosts", control="none"), row("take-port", "serve", PORT, control="none"), row("take-resolver", "serve", 53, control="none"),
]


# On the host's own network packets must not be led elsewhere than the socket is.
if ground.BARE:
    ROWS += [
        row("source-route", "option", 1, 0, 4, "830704" + "08080808" + "00"), row("source-route-strict", "option", 2, 0, 4, "890704" + "08080808" + "00"),
        row("routing-header", "option", 1, 41, 57, "0002020100000000" + "26000000000000000000000000000001", control="none"), row("device", "option", 1, 1, 25, "6c6f00"),
        row("multicast", "option", 2, 0, 35, "e0000105" + "00000000" + "01000000", control="none"), row("deferred", "option", 1, 6, 30, "01000000"),
        row("unicast-interface", "option", 2, 0, 50, "00000001"), row("route-by-note", "by_note", "2600::1", 53, control="none"),
        row("share-address", "shares", 2), row("share-port", "shares", 15),
        row("serve-anywhere", "serve", 0, control="bare"),
    ]
ROWS.append(row("connect-anew", "anew", PUBLIC, ELSEWHERE, PORT))


def serve_abstract(victim):
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind("\0harn-network-test")
    server.listen(8)

    def loop():
        while True:
            client, _ = server.accept()
            with client:
                tag = client.recv(100).decode()
                victim.tags[tag] = "abstract"
                client.sendall(f"echo {tag} abstract\n".encode())

    threading.Thread(target=loop, daemon=True).start()


class Attacks:
    def __init__(self, harn):
        self.place = ground.Place(harn, os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe.py"))
        self.victim = ground.Victim(tcp=(PORT, OTHER), udp=(UDP, 443))
        self.resolver = ground.Resolver(NAMES)
        serve_abstract(self.victim)
        self.problems = []

    def tell(self, flags, rows, resolver, **environment):
        """What the probe says about the rows: bare when there are no flags."""
        self.victim.tags.clear()
        self.resolver.asked.clear()
        self.resolver.counts.clear()
        probe = ["/usr/bin/python3", "probe.py", resolver]
        words = probe if flags is None else [self.place.harn, "run", *flags, "--", *probe]
        # A connection that was open before, as a careless launcher would leave it.
        with socket.create_connection(("127.0.0.1", PORT)) as connection:
            os.dup2(connection.fileno(), INHERITED)
            result = self.place.run(words, input=json.dumps(rows), env=self.place.environment(**environment), pass_fds=(INHERITED,))
            os.close(INHERITED)
        if result.returncode != 0:
            self.problems.append(f"the probe failed ({result.returncode}): {result.stderr[-600:]}")
            return {}
        return json.loads(result.stdout)

    def control(self, kind, flags, resolver, **environment):
        rows = [r for r in ROWS if r["control"] == kind]
        told = self.tell(flags, rows, resolver, **environment)
        for r in rows:
            root_only = (r["act"] in ("family", "change_route") or r["id"].startswith("source-route")) and os.getuid() != 0
            if not told.get(r["id"], "").startswith("reached") and not root_only:
                self.problems.append(f"control {r['id']}: {told.get(r['id'])}")

    def confined(self):
        flags = [word for host in ALLOWED for word in ("--allow-host", host)]
        told = self.tell(flags, ROWS, "192.0.0.8", HARN_EGRESS_DENY="denied.wild.test")
        seen = set(self.victim.tags)
        for r in ROWS:
            reached = told.get(r["id"], "").startswith("reached")
            if reached != r["lawful"]:
                self.problems.append(f"{'escaped' if reached else 'overrefused'} {r['id']}: {told.get(r['id'])}")
            if r["id"] in seen and not r["lawful"]:
                self.problems.append(f"escaped {r['id']}: the victim saw it at {self.victim.tags[r['id']]}")
        if self.victim.tags.get("name-mixed") != "93.184.216.39":
            self.problems.append(f"mixed answers led to {self.victim.tags.get('name-mixed')}")
        strangers = {name for name in self.resolver.asked if "evil" in name or name in ("wild.test", "xgood.test") or len(name) > 150}
        if strangers:
            self.problems.append(f"names nobody may reach were asked about outside: {strangers}")

    def run(self):
        self.control("bare", None, "127.0.0.1")
        everything = [word for host in ALLOWED + OPEN for word in ("--allow-host", host)] + ["--allow-host", "evil.test:7001", "--allow-host", "good.test:7002"]
        self.control("open", everything, "192.0.0.8")
        self.confined()
        self.place.remove()
        print(f"{len(ROWS)} rows as uid {os.getuid()}")
        for problem in self.problems:
            print(problem)
        return 1 if self.problems else 0


if __name__ == "__main__":
    ground.enter()
    sys.exit(Attacks(sys.argv[1]).run())

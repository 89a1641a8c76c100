# SPDX-License-Identifier: Apache-2.0
"""The network of a session that lives: hosts named, taken away and named again while commands run and connections stream.

usage: session_test.py HARN
"""
import json
import os
import signal
import subprocess
import sys
import threading
import time

import ground

PORT, LATER, SHOWN = 7021, 7022, 7023
HOSTS = {"good.test": [["93.184.216.35"]], "other.test": [["93.184.216.36"]], "third.test": [["93.184.216.37"]], "*.zone.test": [["93.184.216.38"]]}

# Does what it is told line by line, and says how it went.
AGENT = """
import socket, sys
held = {}
def open_(name, host, port):
    try:
        held[name] = socket.create_connection((host, int(port)), 5)
        held[name].settimeout(10)
        return 'open'
    except OSError as error:
        return 'no ' + type(error).__name__
def pull(name):
    got = 0
    while got < 1000000:
        piece = held[name].recv(65536)
        if not piece: return 'ended'
        got += len(piece)
    return 'streams'
def end_of(name):
    try:
        while held[name].recv(65536): pass
    except ConnectionResetError: return 'reset'
    except OSError as error: return 'no ' + type(error).__name__
    return 'ended'
for line in sys.stdin:
    words = line.split()
    print({'open': open_, 'pull': pull, 'end': end_of}[words[0]](*words[1:]), flush=True)
"""
ONCE = """
import socket, sys
try:
    s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)
    print('got', len(s.recv(1000)) > 0)
except OSError as error:
    print('no', type(error).__name__)
"""


def stream(client):
    """Bytes without end, as fast as they are taken."""
    try:
        with client:
            while True:
                client.sendall(bytes(65536))
    except OSError:
        pass


def serve(port):
    server = ground.listener(port)

    def loop():
        while True:
            client, _ = server.accept()
            threading.Thread(target=stream, args=(client,), daemon=True).start()

    threading.Thread(target=loop, daemon=True).start()


def relays():
    """Relays of this network: nobody else's."""
    ours, found = os.readlink("/proc/self/ns/net"), []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", encoding="ascii", errors="replace") as file:
                relay = file.read().startswith("harn-relay")
            if relay and os.readlink(f"/proc/{name}/ns/net") == ours:
                found.append(int(name))
        except OSError:
            continue
    return found


def until(holds, seconds=10):
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds()


def switch_off_ipv6(pid):
    """In the network of this process. The rights its owner has there do not survive an exec."""
    child = os.fork()
    if child == 0:
        try:
            spaces = [open(f"/proc/{pid}/ns/{name}", "rb") for name in ("user", "net")]
            for space in spaces:
                if ground.LIBC.setns(space.fileno(), 0) != 0:
                    os._exit(1)
            for name in ("all", "default", "lo"):
                with open(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6", "w", encoding="ascii") as file:
                    file.write("1")
            os._exit(0)
        except OSError as error:
            print(error)
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


class Agent:
    """A command in the session that goes on while its network changes."""

    def __init__(self, place, session):
        command = [place.harn, "session", "exec", session, "--", "/usr/bin/python3", "-u", "-c", AGENT]
        self.run = subprocess.Popen(command, cwd=place.project, env=place.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def say(self, *words):
        self.run.stdin.write(" ".join(map(str, words)) + "\n")
        self.run.stdin.flush()
        return self.run.stdout.readline().strip()

    def end(self):
        _, err = self.run.communicate(timeout=30)
        return err


class Sessions:
    def __init__(self, harn):
        self.place = ground.Place(harn)
        self.problems = []
        ground.Resolver(HOSTS, ttl=60)
        for port in (PORT, LATER):
            serve(port)

    def expect(self, name, holds, told):
        if not holds:
            self.problems.append(f"{name}: {told}")

    def session(self, *words, **more):
        return self.place.run([self.place.harn, "session", *words], env=self.place.environment(**more))

    def create(self, name, *flags, **more):
        profile = ["--profile", "worktree"] if ground.BARE else []  # without a view the strictest refuses what Landlock cannot close
        result = self.session("create", "--id", name, *profile, *flags, **more)
        self.expect(f"{name} is made", result.returncode == 0, result.stderr)

    def name_hosts(self, session, *hosts):
        result = self.session("network", session, "restricted", *[word for host in hosts for word in ("--allow-host", host)])
        self.expect(f"hosts are named: {hosts}", result.returncode == 0, result.stderr)

    def once(self, session, host, port=PORT):
        """What one command reaches, and its outcome."""
        result = self.session("exec", "--json", session, "--", "/usr/bin/python3", "-c", ONCE, host, str(port))
        if not result.stdout.startswith("{"):
            return result.stdout + result.stderr, {}
        outcome = json.loads(result.stdout)
        return outcome["stdout"].strip(), outcome

    def reaches(self, session, host, port=PORT, told=""):
        said, outcome = self.once(session, host, port)
        self.expect(f"{host}:{port} is reached {told}", said == "got True", (said, outcome.get("denials"), outcome.get("relay_lost")))
        return outcome

    def misses(self, session, host, port=PORT, told="", denied=True):
        said, outcome = self.once(session, host, port)
        self.expect(f"{host}:{port} is not reached {told}", said.startswith("no "), said)
        named = [denial for denial in outcome.get("denials", []) if host in denial["target"]]
        if denied:
            self.expect(f"{host}:{port} is named as denied {told}", named and "--allow-host" in named[0]["remedy"] and named[0].get("access") == "host", outcome.get("denials"))
        return outcome

    def back_and_forth(self):
        """none, restricted, none, restricted."""
        self.create("turns")
        self.misses("turns", "good.test", told="at first", denied=False)
        self.expect("a session without hosts needs no relay", not relays(), relays())
        for turn in ("once", "again"):
            self.name_hosts("turns", f"good.test:{PORT}")
            outcome = self.reaches("turns", "good.test", told=turn)
            contacted = {entry["host"]: entry for entry in outcome.get("contacted", [])}
            self.expect("what was reached is told with its bytes", contacted.get("good.test", {}).get("received_bytes", 0) > 0, contacted)
            self.misses("turns", "other.test", told=turn)
            outcome = self.reaches("turns", "good.test", told=turn)
            self.expect("each command has its own denials", not outcome.get("denials"), outcome.get("denials"))
            result = self.session("network", "turns", "none")
            self.expect("the network is closed", result.returncode == 0, result.stderr)
            self.misses("turns", "good.test", told=f"after none, {turn}", denied=False)
        result = self.session("network", "turns", "allowed")
        self.expect("the whole network is not to be had", result.returncode == 125 and "made with less" in result.stderr, result)
        self.session("terminate", "turns")

    def streaming(self):
        """Narrowed while a connection streams, widened again, closed."""
        self.create("live", "--allow-host", f"good.test:{PORT}")
        agent = Agent(self.place, "live")
        self.expect("a connection", agent.say("open", "a", "good.test", PORT) == "open", "")
        self.expect("it streams", agent.say("pull", "a") == "streams", "")
        self.name_hosts("live", f"other.test:{PORT}")
        said = agent.say("end", "a")
        self.expect("what is no longer allowed is closed", said == "reset", said)
        said = agent.say("open", "b", "good.test", PORT)
        self.expect("… and not opened again", said.startswith("no "), said)
        said = agent.say("open", "c", "other.test", PORT)
        self.expect("the running command reaches what is allowed now", said == "open", said)
        self.name_hosts("live", f"other.test:{PORT}", f"good.test:{PORT}", f"third.test:{LATER}")
        said = agent.say("pull", "c")
        self.expect("what stays allowed goes on", said == "streams", said)
        said = agent.say("open", "d", "good.test", PORT)
        self.expect("widened, at once", said == "open", said)
        said = agent.say("open", "e", "third.test", LATER)
        self.expect("a port that nobody named before", said == "open", said)
        result = self.session("network", "live", "none")
        self.expect("closed while a command runs", result.returncode == 0, result.stderr)
        said = [agent.say("end", name) for name in "cde"]
        self.expect("none closes everything", said == ["reset"] * 3, said)
        said = agent.say("open", "f", "other.test", PORT)
        self.expect("… for who runs already", said.startswith("no "), said)
        err = agent.end()
        self.expect("the end of the command names what was denied", f"good.test:{PORT}" in err, err)
        self.session("terminate", "live")
        self.expect("no relay is left", until(lambda: not relays()), relays())

    def killed(self):
        self.create("killed", "--allow-host", f"good.test:{PORT}")
        agent = Agent(self.place, "killed")
        self.expect("a connection", agent.say("open", "a", "good.test", PORT) == "open", "")
        found = relays()
        self.expect("one relay", len(found) == 1, found)
        for pid in found:
            os.kill(pid, signal.SIGKILL)
        said = agent.say("end", "a")
        self.expect("a killed relay closes everything", said in ("reset", "ended"), said)
        said = agent.say("open", "b", "good.test", PORT)
        self.expect("… and nothing is reached", said.startswith("no "), said)
        err = agent.end()
        self.expect("… which is told", "relay ended" in err, err)
        if not ground.BARE:
            said, outcome = self.once("killed", "good.test")
            self.expect("later commands reach nothing", said.startswith("no ") and "relay is gone" in outcome.get("relay_lost", ""), (said, outcome.get("relay_lost")))
        self.name_hosts("killed", f"good.test:{PORT}")
        self.reaches("killed", "good.test", told="by a new relay")
        self.session("terminate", "killed")
        self.expect("no relay is left", until(lambda: not relays()), relays())

    def denials_stay(self):
        """What the operator denied when it was made holds whoever names hosts later."""
        self.create("denied", HARN_EGRESS_DENY="bad.zone.test")
        self.name_hosts("denied", f"*.zone.test:{PORT}")
        self.reaches("denied", "fine.zone.test")
        self.misses("denied", "bad.zone.test", denied=False)
        result = self.session("network", "denied", "restricted", "--allow-host", "not a host!")
        self.expect("a wrong host is named", result.returncode != 0 and "not a host" in result.stderr, result.stderr)
        self.reaches("denied", "fine.zone.test", told="as before the mistake")
        self.session("terminate", "denied")

    def keeper_of(self, session):
        with open(os.path.join(self.place.home, f".local/state/harn/sessions/{session}/session.json"), encoding="utf-8") as file:
            return json.load(file)["keeper"]

    def without_ipv6(self):
        """A kernel that has IPv6 switched off, in the session's network alone."""
        self.create("four")
        self.expect("IPv6 is switched off", switch_off_ipv6(self.keeper_of("four")), "")
        self.name_hosts("four", f"good.test:{PORT}")
        self.reaches("four", "good.test", told="without IPv6")
        self.misses("four", "other.test", told="without IPv6")
        self.session("terminate", "four")

    def asleep(self):
        """Hosts are named while everybody sleeps; the next command wakes them and sees the hosts."""
        self.create("asleep")
        self.expect("it sleeps", self.session("suspend", "asleep").returncode == 0, "")
        self.name_hosts("asleep", f"good.test:{PORT}")
        self.reaches("asleep", "good.test", told="after sleep")
        self.session("terminate", "asleep")

    def published(self):
        """A port of the session on the host's loopback, whatever hosts are named."""
        serves = f"import socket; s = socket.create_server(('127.0.0.1', {SHOWN}))\nwhile True: s.accept()[0].sendall(b'served')"
        self.create("shown", "--publish", str(SHOWN))
        command = [self.place.harn, "session", "exec", "shown", "--", "/usr/bin/python3", "-c", serves]

        def answer():
            try:
                with ground.socket.create_connection(("127.0.0.1", SHOWN), 5) as reader:
                    return reader.recv(100)
            except OSError:
                return b""

        with subprocess.Popen(command, cwd=self.place.project, env=self.place.environment(), stderr=subprocess.DEVNULL) as server:
            self.expect("a published port is served", until(lambda: answer() == b"served"), "")
            self.name_hosts("shown", f"good.test:{PORT}")
            self.expect("… with hosts named", answer() == b"served", "")
            self.session("network", "shown", "none")
            self.expect("… and without", answer() == b"served", "")
            server.kill()
        self.session("terminate", "shown")
        self.expect("nobody waits at the port any more", until(lambda: answer() == b""), "")

    def keeper_killed(self):
        self.create("orphan", "--allow-host", f"good.test:{PORT}")
        self.reaches("orphan", "good.test")
        self.expect("one relay", len(relays()) == 1, relays())
        os.kill(self.keeper_of("orphan"), signal.SIGKILL)
        self.expect("a relay ends with its session", until(lambda: not relays()), relays())
        self.session("gc")

    def secret(self):
        """Who finds the socket but knows no secret is not heard."""
        self.create("secret", "--allow-host", f"good.test:{PORT}")
        found = [os.path.join(path, "relay") for path, _, files in os.walk(self.place.home) if "relay" in files]
        self.expect("a socket of the relay", len(found) == 1, found)
        for path in found:
            with ground.socket.socket(ground.socket.AF_UNIX, ground.socket.SOCK_SEQPACKET) as stranger:
                stranger.settimeout(5)
                stranger.connect(path)
                stranger.send(b"0" * 32)
                try:
                    stranger.send(b"served")
                    answer = stranger.recv(100)
                except OSError:
                    answer = b""
                self.expect("a stranger is not answered", answer == b"", answer)
        self.reaches("secret", "good.test", told="meanwhile")
        self.session("terminate", "secret")

    def run(self):
        self.back_and_forth()
        self.streaming()
        self.killed()
        self.denials_stay()
        if not ground.BARE:
            self.keeper_killed()
            self.secret()
            self.without_ipv6()
            self.asleep()
            self.published()
        for session in ("turns", "live", "killed", "denied", "orphan", "secret", "four", "asleep", "shown"):
            self.session("terminate", session)
        self.place.remove()


def main():
    ground.enter()
    test = Sessions(sys.argv[1])
    test.run()
    for problem in test.problems:
        print(problem)
    print(f"{len(test.problems)} problems")
    return 1 if test.problems else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""What a command could win from a supervisor that acts for it: each attempt works unconfined, and not inside.

usage: on_behalf_test.py HARN
"""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

PROBES = {
    # A program that lends its group to whoever starts it.
    "lent_group": ("", """
open("tool", "w").close()
try:
    os.chmod("tool", 0o2755); print("won" if os.stat("tool").st_mode & 0o2000 else "lost")
except PermissionError: print("lost")
"""),
    # Another server's socket under the name of one that may be reached.
    "moved_name": ("", """
os.rename("other.sock", "named.sock")
try:
    s = socket.socket(socket.AF_UNIX); s.connect("named.sock"); print("won", s.recv(20))
except OSError: print("lost")
"""),
    # An abstract name the kernel makes up, before Landlock has a scope for those.
    "abstract_name": (",landlock=5", """
s = socket.socket(socket.AF_UNIX)
failed = LIBC.bind(s.fileno(), struct.pack("H", socket.AF_UNIX), 2)
print("lost" if failed else "won")
"""),
    # Somebody else's mask, changed by a process that shares it: what is made has the mode the caller would give it.
    "shared_mask": ("", """
os.umask(0o022); os.close(os.open("first", os.O_CREAT | os.O_WRONLY, 0o666))
stack = ctypes.create_string_buffer(65536)
def child(_): os.umask(0o077); return 0
entry = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(child)
top = ctypes.c_void_p((ctypes.addressof(stack) + 65536) & ~15)
pid = LIBC.clone(entry, top, 0x100 | 0x200 | 0x4000 | 17, None)  # CLONE_VM, CLONE_FS, CLONE_VFORK
os.waitpid(pid, 0)
os.close(os.open("second", os.O_CREAT | os.O_WRONLY, 0o666))
print("mode %o" % (os.stat("second").st_mode & 0o777))
"""),
    # A lease must keep whoever truncates waiting, and nobody else.
    "lease": ("", """
with open("leased", "w") as file: file.write("text")
signal.signal(signal.SIGIO, signal.SIG_IGN)
held = os.open("leased", os.O_RDONLY)
fcntl.fcntl(held, 1024, fcntl.F_RDLCK)  # F_SETLEASE
cutter = subprocess.Popen(["/usr/bin/python3", "-c", "import os; os.truncate('leased', 0)"])
time.sleep(0.3)
open("meanwhile", "w").close()
waited = cutter.poll() is None
fcntl.fcntl(held, 1024, fcntl.F_UNLCK)
print("served", waited, cutter.wait(), os.stat("leased").st_size)
"""),
}
HEAD = "import ctypes, fcntl, os, signal, socket, struct, subprocess, sys, time\nLIBC = ctypes.CDLL(None, use_errno=True)\n"
UNCONFINED = {"lent_group": "won", "moved_name": "won", "abstract_name": "won", "shared_mask": "mode 600", "lease": "served True 0 0"}
CONFINED = {"lent_group": "lost", "moved_name": "lost", "abstract_name": "lost", "shared_mask": "mode 600", "lease": "served True 0 0"}


def serve(path, text):
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(4)

    def loop():
        while True:
            client, _ = server.accept()
            with client:
                client.sendall(text)

    threading.Thread(target=loop, daemon=True).start()


def tell(harn, name, confined):
    place = tempfile.mkdtemp(prefix="harn-behalf-", dir="/var/tmp")
    try:
        project, home = place + "/project", place + "/home"
        os.mkdir(project)
        os.mkdir(home)
        serve(project + "/named.sock", b"named")
        serve(project + "/other.sock", b"other")
        policy = place + "/policy.toml"
        with open(policy, "w", encoding="utf-8") as file:
            file.write(f'workspace_roots = ["{project}"]\n[process_sandbox]\nunix_sockets = [{{ path = "{project}/named.sock" }}]\n')
        pretend, script = PROBES[name]
        words = ["/usr/bin/python3", "-c", HEAD + script]
        if confined:
            words = [harn, "run", "--policy", policy, "--", *words]
        environment = {"PATH": "/usr/bin:/bin", "HOME": home, "LANG": "C.UTF-8", "HARN_PRETEND": "userns=no" + pretend}
        return subprocess.run(words, cwd=project, env=environment, capture_output=True, text=True, timeout=60, check=False)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def main():
    failed = 0
    for name in PROBES:
        for confined, expected in ((False, UNCONFINED[name]), (True, CONFINED[name])):
            ran = tell(sys.argv[1], name, confined)
            right = ran.stdout.startswith(expected)
            failed += not right
            print(f"{'ok     ' if right else 'FAILED '} {name} {'inside' if confined else 'unconfined'}: {ran.stdout.strip()}", "" if right else ran.stderr[-400:])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

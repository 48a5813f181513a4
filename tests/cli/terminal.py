#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What only a terminal shows: tare run --live and the pager, on pseudo-terminals of their own.

Nothing here depends on how fast anything is: every wait is for something that must come, and gives up after
a minute. A load only makes it slow."""
import fcntl
import os
import pty
import re
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

TARE = os.environ.get("TARE", "")
PATIENCE = 60
ENTER, LEAVE, SHOW_CURSOR = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?25h"
HERE = os.path.dirname(os.path.abspath(__file__))
RECORDING = os.path.join(HERE, "..", "data", "rounds.tare")
checks = failures = 0


def ok(condition, what, *notes):
    global checks, failures
    checks += 1
    print(("ok" if condition else "not ok"), checks, "-", what)
    if not condition:
        failures += 1
        for note in notes:
            print("#", repr(note)[:2000])
    sys.stdout.flush()


def skip_all(reason):
    print("1..0 # SKIP", reason)
    sys.exit(0)


class Answering:
    """A UDP service on a port of its own."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.url = "udp://127.0.0.1:%d" % self.socket.getsockname()[1]
        threading.Thread(target=self.answer, daemon=True).start()

    def answer(self):
        while True:
            data, sender = self.socket.recvfrom(2048)
            self.socket.sendto(data, sender)


class Terminal:
    """A command whose stderr (and stdout, unless it goes to a file) is a terminal, with ourselves as its shell."""

    def __init__(self, *command, size=(30, 90), stdout=None, cpus=None, environment=None):
        self.screen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if stdout:
                os.dup2(os.open(stdout, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 1)
            if cpus is not None:
                os.sched_setaffinity(0, cpus)
            os.environ.update({"LC_ALL": "C.UTF-8", "TERM": "xterm", "TARE_PAGER": "cat", **(environment or {})})
            time.sleep(0.2)  # until the parent has looked at the terminal
            os.execvp(command[0], command)
        self.before = termios.tcgetattr(self.fd)
        self.status = None

    def resize(self, lines, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def type(self, keys):
        os.write(self.fd, keys)

    def attributes(self):
        return termios.tcgetattr(self.fd)

    def read(self, seconds=0.1):
        ready, _, _ = select.select([self.fd], [], [], seconds)
        try:
            part = os.read(self.fd, 65536) if ready else b""
        except OSError:  # the other side is closed
            time.sleep(0.02)
            part = b""
        self.screen += part
        return part

    def wait_for(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition() and time.monotonic() < end:
            self.read()
        return condition()

    def wait_frames(self, count, after=0):
        return self.wait_for(lambda: self.screen[after:].count(b"\x1b[J") >= count)

    def changed_state(self, options):
        """Exit, or stop with os.WUNTRACED, as a status of wait."""
        def look():
            if self.status is None:
                pid, status = os.waitpid(self.pid, options | os.WNOHANG)
                if pid:
                    self.status = status
            return self.status is not None
        self.wait_for(look)
        status, self.status = self.status, None
        while self.read(0.05):
            pass
        return status

    def finish(self):
        """Exit status, or minus the signal that ended it; None when it went on for ever."""
        status = self.changed_state(0)
        if status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            return None
        return os.waitstatus_to_exitcode(status)

    def given_back(self):
        last = max(self.screen.rfind(ENTER), 0)
        return (self.attributes() == self.before and self.screen.count(ENTER) == self.screen.count(LEAVE)
                and LEAVE in self.screen[last:] and SHOW_CURSOR in self.screen[last:])


def text(file):
    with open(file, encoding="utf-8") as opened:
        return opened.read()


QUIET = b"nothing is drawn"


def live(url, *more, count=1000000, **how):
    """A run that draws. Where spinning threads of others (tests beside this one) have every CPU at the moment, it
    rightly does not: then another one, and after a minute of that there is nothing to be seen here."""
    end = time.monotonic() + PATIENCE
    while True:
        terminal = Terminal(TARE, "run", url, "--every", "1ms", "--count", str(count), "--no-facts", "--live", *more, **how)
        terminal.wait_for(lambda t=terminal: ENTER in t.screen or QUIET in t.screen)
        if QUIET not in terminal.screen:
            return terminal
        os.kill(terminal.pid, signal.SIGTERM)
        terminal.finish()
        if time.monotonic() > end:
            raise Busy
        time.sleep(0.3)


class Busy(Exception):
    pass


def test_whole_run(url, folder):
    result = os.path.join(folder, "result")
    terminal = live(url, count=1500, stdout=result)
    ok(terminal.finish() == 0, "a run with --live ends as one without", terminal.screen)
    ok(terminal.screen.count(b"\x1b[J") > 1, "it has drawn")
    ok(terminal.given_back(), "and given the terminal back", terminal.screen[-300:])
    ok("rtt" in text(result) and "\x1b" not in text(result), "its result is on stdout, and nothing else", text(result))
    seen = terminal.screen.decode(errors="replace")
    ok(re.search(r"\d+ sent, \d+ answered", seen) and "stalls" in seen and "p99" in seen and "late" in seen,
       "figures so far, lateness, stalls and losses were there")


def test_ends(url, folder):
    for what, end, wanted in (("q", lambda t: t.type(b"q"), 130), ("Ctrl-C", lambda t: t.type(b"\x03"), 130),
                              ("SIGTERM", lambda t: os.kill(t.pid, signal.SIGTERM), 130)):
        result = os.path.join(folder, "result")
        terminal = live(url, stdout=result)
        ok(terminal.wait_frames(3), "%s: it draws" % what, terminal.screen)
        ok(terminal.attributes() != terminal.before, "%s: the terminal is taken over" % what)
        end(terminal)
        status = terminal.finish()
        ok(status == wanted, "%s ends the run with %d" % (what, wanted), status, terminal.screen[-500:])
        ok(terminal.given_back(), "%s: the terminal is as it was" % what, terminal.screen[-300:])
        ok("rtt" in text(result), "%s: what was measured is told" % what, text(result))
    for number in (signal.SIGQUIT, signal.SIGHUP, signal.SIGABRT, signal.SIGSEGV):
        terminal = live(url)
        terminal.wait_frames(2)
        os.kill(terminal.pid, number)
        status = terminal.finish()
        # a sanitizer turns some of these into an exit of its own
        ok(status == -number or (status or 0) > 0, "%s still kills" % number.name, status)
        ok(terminal.given_back(), "%s: the terminal is as it was" % number.name, terminal.screen[-300:])


def test_suspend(url, folder):
    terminal = live(url, stdout=os.path.join(folder, "result"))
    terminal.wait_frames(2)
    terminal.type(b"\x1a")
    status = terminal.changed_state(os.WUNTRACED)
    ok(status is not None and os.WIFSTOPPED(status), "Ctrl-Z stops it", status)
    ok(terminal.given_back(), "with the terminal given back", terminal.screen[-300:])
    at = len(terminal.screen)
    os.kill(terminal.pid, signal.SIGCONT)
    ok(terminal.wait_frames(2, at) and ENTER in terminal.screen[at:], "continued, it draws on", terminal.screen[at:])
    terminal.type(b"q")
    ok(terminal.finish() == 130, "and ends by q")
    ok(terminal.given_back(), "the terminal is as it was", terminal.screen[-300:])


def widths_of(screen):
    """Columns of the lines of whole frames; every character of ours takes one."""
    frames = screen.split(b"\x1b[H")[1:-1]
    return [len(line) for frame in frames if b"\x1b[J" in frame
            for line in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", frame.decode(errors="replace")).split("\r\n")]


def test_resize(url, folder):
    terminal = live(url, stdout=os.path.join(folder, "result"), size=(40, 120))
    terminal.wait_frames(3)
    ok(100 < max(widths_of(terminal.screen)) <= 120, "frames are as wide as the terminal")
    for lines, columns in ((12, 44), (5, 60), (60, 200), (24, 80)):
        at = len(terminal.screen)
        terminal.resize(lines, columns)
        terminal.wait_frames(4, at)
        # the first ones may still be of the old size
        frames = terminal.screen[at:].split(b"\x1b[H")[-2:]
        ok(len(frames) == 2 and max(widths_of(b"\x1b[H" + frames[0] + b"\x1b[H")) <= columns,
           "a frame fits %d columns" % columns, frames)
        ok(frames[0].count(b"\r\n") < lines, "and %d lines" % lines, frames)
    terminal.type(b"q")
    ok(terminal.finish() == 130 and terminal.given_back(), "and the terminal is as it was")


def test_quiet(url, folder):
    cpu = sorted(os.sched_getaffinity(0))[0]
    terminal = Terminal(TARE, "run", url, "--every", "1ms", "--count", "300", "--spin", "--cpu", str(cpu), "--no-facts",
                        "--live", stdout=os.path.join(folder, "result"), cpus={cpu})
    terminal.finish()
    seen = terminal.screen.decode(errors="replace")
    ok("nothing is drawn" in seen, "with every CPU spinning it says that it draws nothing", seen)
    ok(ENTER not in terminal.screen and terminal.attributes() == terminal.before, "and leaves the terminal alone", seen)


def test_refusals(url, folder):
    recording = os.path.join(folder, "none.tare")
    done = subprocess.run([TARE, "run", url, "--count", "5", "--live", "-o", recording], capture_output=True, text=True)
    ok(done.returncode == 2 and "terminal" in done.stderr, "without a terminal --live is refused in a sentence", done)
    ok(not os.path.exists(recording), "before anything is begun")
    dumb = Terminal(TARE, "run", url, "--count", "5", "--live", environment={"TERM": "dumb"})
    ok(dumb.finish() == 2 and b"TERM=dumb" in dumb.screen and ENTER not in dumb.screen, "nor on a dumb one", dumb.screen)


def test_pager(folder):
    pager = {"TARE_PAGER": "sed s/^/paged:/"}
    stat = (TARE, "stat", RECORDING)

    def shown(*command, size=(10, 90), environment=None):
        terminal = Terminal(*command, size=size, environment=environment or pager)
        status = terminal.finish()
        return status, terminal.screen.decode(errors="replace")

    status, seen = shown(*stat)
    ok(status == 0 and seen.startswith("paged:stamp://"), "a result longer than the terminal is paged", seen)
    status, seen = shown(*stat, size=(200, 90))
    ok(status == 0 and "paged:" not in seen and "rounds; rtt" in seen, "one that fits is not", seen)
    status, seen = shown(*stat, "--no-pager")
    ok("paged:" not in seen and "rounds; rtt" in seen, "--no-pager prints at once", seen)
    status, seen = shown(*stat, environment={"TARE_PAGER": "/nowhere/pager"})
    ok(status == 0 and "rounds; rtt" in seen, "without a pager the result is still there", seen)
    status, seen = shown(*stat, environment={"TARE_PAGER": "true"})
    ok(status == 0 and "rounds; rtt" not in seen, "a pager that is closed at once is no failure", status, seen)
    status, seen = shown(TARE, "stat", "--sort", "p5", RECORDING)
    ok(status == 2 and "nearest" in seen and "paged:" not in seen, "a failure is told, and its status kept", seen)
    out = os.path.join(folder, "result")
    Terminal(*stat, stdout=out, environment=pager).finish()
    ok("paged:" not in text(out), "what is no terminal is never paged")
    ok("\x1b[" in shown(TARE, "plot", RECORDING, environment={"TARE_PAGER": "cat", "NO_COLOR": ""})[1],
       "colours on a terminal")
    ok("\x1b[" not in shown(TARE, "plot", RECORDING, environment={"TARE_PAGER": "cat", "NO_COLOR": "1"})[1],
       "none with NO_COLOR")


def main():
    if not os.access(TARE, os.X_OK):
        skip_all("this build has no tare program")
    os.environ["XDG_CONFIG_HOME"] = "/nonexistent"
    os.environ.pop("NO_COLOR", None)
    folder = tempfile.mkdtemp(prefix="tare-terminal.")
    try:
        url = Answering().url
        test_refusals(url, folder)
        test_pager(folder)
        test_whole_run(url, folder)
        test_ends(url, folder)
        test_suspend(url, folder)
        test_resize(url, folder)
        test_quiet(url, folder)
    except Busy:
        print("ok %d # SKIP every CPU carries a spinning thread of tare, for a minute now" % (checks + 1))
        print("1..%d" % (checks + 1))
        sys.exit(1 if failures else 0)
    finally:
        shutil.rmtree(folder)
    print("1..%d" % checks)
    sys.exit(1 if failures else 0)


main()

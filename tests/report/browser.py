# SPDX-License-Identifier: GPL-3.0-or-later
"""What a browser makes of pages: nothing said on its console, nothing asked of any network, zoom by mouse and keys,
light, dark and print. Chromium is spoken to over a pipe (--remote-debugging-pipe), so no port is opened."""
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

TARE = os.environ["TARE"]
DATA = os.environ["TARE_TEST_DATA"]
DEADLINE = 120
count = 0


def ok(good, what):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {what}", flush=True)


class Browser:
    def __init__(self, program, profile):
        ours, theirs = os.pipe(), os.pipe()

        def place():
            os.dup2(ours[0], 60)
            os.dup2(theirs[1], 61)
            os.dup2(60, 3)
            os.dup2(61, 4)

        self.process = subprocess.Popen([program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
                                         "--disable-background-networking", "--no-first-run", f"--user-data-dir={profile}", "about:blank"],
                                        preexec_fn=place, close_fds=False, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self.to, self.source = ours[1], theirs[0]
        self.buffer, self.number, self.events, self.session = b"", 0, [], None

    def message(self):
        until = time.monotonic() + DEADLINE
        while b"\0" not in self.buffer:
            if not select.select([self.source], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.source, 1 << 20)
            if not data:
                raise EOFError("the browser is gone")
            self.buffer += data
        line, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(line)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        data, at = json.dumps(request).encode() + b"\0", 0
        while at < len(data):
            at += os.write(self.to, data[at:])
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def wait_for(self, name):
        for message in self.events:
            if message.get("method") == name:
                return
        while True:
            message = self.message()
            self.events.append(message)
            if message.get("method") == name:
                return

    def open(self, url):
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.wait_for("Page.loadEventFired")

    def value(self, expression):
        got = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            raise RuntimeError(json.dumps(got["exceptionDetails"])[:300])
        return got["result"].get("value")

    def end(self):
        self.session = None
        try:
            self.call("Browser.close")
        except (OSError, EOFError, RuntimeError, TimeoutError):
            self.process.kill()
        self.process.wait()


def said(browser):
    """What the console got, and what was asked of anything but the file itself."""
    lines, asked = [], []
    for message in browser.events:
        method, parameters = message.get("method"), message.get("params", {})
        if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            lines.append(json.dumps(parameters)[:200])
        elif method == "Log.entryAdded":
            lines.append(parameters["entry"]["text"][:200])
        elif method == "Network.requestWillBeSent" and not parameters["request"]["url"].startswith(("file:", "data:")):
            asked.append(parameters["request"]["url"])
        elif method == "Network.requestWillBeSent" and parameters.get("type") != "Document":
            asked.append(parameters["request"]["url"][:80])
    return lines, asked


def press(browser, key, code):
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=code)


def zoom(browser, name):
    browser.value("document.querySelector('.zoomable button').click()")
    ranges = "document.querySelector('.zoomable').dataset.range.split(' ').map(Number)"
    whole = browser.value(ranges)
    ok(whole and whole[1] > whole[0], f"{name}: the button opens a plot that can be zoomed")
    ok(browser.value("document.activeElement.className").startswith("zoom"), f"{name}: and the keys go to it")
    press(browser, "+", "Equal")
    near = browser.value(ranges)
    ok(near[1] - near[0] < 0.6 * (whole[1] - whole[0]), f"{name}: + zooms in")
    press(browser, "ArrowRight", "ArrowRight")
    right = browser.value(ranges)
    ok(right[0] > near[0], f"{name}: an arrow moves")
    press(browser, "0", "Digit0")
    again = browser.value(ranges)
    ok(abs(again[0] - whole[0]) + abs(again[1] - whole[1]) < 1e-6 * (whole[1] - whole[0] + 1), f"{name}: 0 shows all again")


def look(browser, name, path):
    browser.open("file://" + path)
    plots = browser.value("document.querySelectorAll('svg.plot').length")
    ok(plots > 0, f"{name}: {plots} plots")
    # Text that leaves its plot would be cut off.
    outside = browser.value("""[...document.querySelectorAll('svg.plot')].flatMap(svg => { let box = svg.viewBox.baseVal;
        return [...svg.querySelectorAll('text')].filter(text => { let at = text.getBBox();
            return at.x < -0.5 || at.y < -0.5 || at.x + at.width > box.width + 0.5 || at.y + at.height > box.height + 0.5; })
            .map(text => text.textContent); })""")
    ok(not outside, f"{name}: no label leaves its plot {outside[:3]}")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = browser.value(ground)
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    dark = browser.value(ground)
    ok(light == "rgb(255, 255, 255)" and dark not in (light, "rgba(0, 0, 0, 0)"), f"{name}: dark is dark ({dark})")
    browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    ok(browser.value(ground) == "rgb(255, 255, 255)" and browser.value("getComputedStyle(document.querySelector('nav')).display") == "none",
       f"{name}: printed on white, without what is to be clicked")
    browser.call("Emulation.setEmulatedMedia", media="", features=[])
    browser.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=False)
    ok(browser.value("document.documentElement.scrollWidth <= innerWidth"), f"{name}: a narrow window need not be scrolled sideways")
    browser.call("Emulation.clearDeviceMetricsOverride")
    if browser.value("document.querySelector('.zoomable') !== null"):
        zoom(browser, name)
    else:
        ok(True, f"{name}: zoom # SKIP built without dygraphs")
    lines, asked = said(browser)
    ok(not lines, f"{name}: nothing on the console {lines[:2]}")
    ok(not asked, f"{name}: nothing asked of any network {asked[:2]}")


def make(folder, name, *files):
    page = os.path.join(folder, name + ".html")
    subprocess.run([TARE, "report", *files, "-o", page], check=True)
    return page


def measured(folder):
    """A recording over loopback, or None where that cannot be done here."""
    out = os.path.join(folder, "run.tare")
    echo = subprocess.Popen([TARE, "echo", "stamp://127.0.0.1:18629"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(20):
            done = subprocess.run([TARE, "run", "stamp://127.0.0.1:18629", "--every", "2ms", "--count", "200", "--rounds", "2", "-o", out],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if os.path.exists(out):
                return out
            time.sleep(0.2)
    finally:
        echo.terminate()
        echo.wait()
    return None


def main():
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        print("1..0 # SKIP no chromium here")
        return
    if os.environ.get("SANITIZE", "none") != "none":
        print("1..0 # SKIP the pages are the same under a sanitizer")
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        pages = {"rounds": make(folder, "rounds", os.path.join(DATA, "rounds.tare")),
                 "comparison": make(folder, "comparison", os.path.join(DATA, "abba.tare"))}
        run = measured(folder)
        if run:
            pages["loopback"] = make(folder, "loopback", run)
        many = os.path.join(folder, "many.tare")
        subprocess.run([os.environ["TARE_MANY"], many, "10000000", "1"], check=True)
        pages["ten million"] = make(folder, "many", many)
        browser = Browser(program, os.path.join(folder, "profile"))
        try:
            for name, page in pages.items():
                look(browser, name, page)
        finally:
            browser.end()
    print(f"1..{count}")


if __name__ == "__main__":
    sys.exit(main())

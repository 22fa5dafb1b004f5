"""Chromium without a window, driven through its debugging pipe: nothing but Python's own library is needed."""
import json
import os
import select
import subprocess
import time

WAIT_SECONDS = 60


class Browser:
    """A page of the file system. Events are those of a person: the browser finds out what they hit."""

    def __init__(self, page, folder, width=1000, height=800, touch=False, media=()):
        to_browser, self.to = os.pipe()
        self.source, from_browser = os.pipe()
        # The browser reads from its descriptor 3 and writes to 4.
        script = 'exec "$@" 3<&%d 4>&%d' % (to_browser, from_browser)
        self.process = subprocess.Popen(
            ["bash", "-c", script, "bash", "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--user-data-dir=" + folder, "--remote-debugging-pipe", "about:blank"],
            pass_fds=(to_browser, from_browser), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.rest, self.number, self.session, self.errors = b"", 0, None, []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch)
        self.call("Emulation.setTouchEmulationEnabled", enabled=touch)
        self.set_media(*media)
        self.call("Runtime.enable")
        self.call("Page.enable")
        self.call("Page.navigate", url="file://" + os.path.abspath(page))
        self.until("document.readyState === 'complete' && location.protocol === 'file:'")

    def close(self):
        """The browser ends when its pipe does."""
        os.close(self.to)
        self.process.wait()
        os.close(self.source)

    def receive(self):
        while b"\0" not in self.rest:
            if not select.select([self.source], [], [], WAIT_SECONDS)[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.source, 1 << 16)
            if not piece:
                raise EOFError("the browser has ended")
            self.rest += piece
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("method") == "Runtime.exceptionThrown":
                self.errors.append(answer["params"]["exceptionDetails"])
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]

    def value(self, expression):
        """What an expression of the page's script is; of a promise, what it becomes."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError("%s: %s" % (expression, result["exceptionDetails"]["exception"]["description"]))
        return result["result"].get("value")

    def until(self, expression):
        """Waits until an expression of the page is true, one picture of the browser after the other."""
        end = time.monotonic() + WAIT_SECONDS
        while not self.value(expression):
            if time.monotonic() > end:
                raise TimeoutError(expression)
            if self.value("location.protocol") == "file:":
                self.value("new Promise(go => requestAnimationFrame(() => go(1)))")

    def set_media(self, *media):
        """media: pairs as ("prefers-color-scheme", "dark")."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": n, "value": v} for n, v in media])

    def key(self, key, code=0):
        event = {"key": key, "windowsVirtualKeyCode": code}
        if key == " ":
            event["text"] = " "
        self.call("Input.dispatchKeyEvent", type="keyDown", **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def mouse(self, kind, x, y, buttons=0):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left" if buttons or kind != "mouseMoved"
                  else "none", buttons=buttons, clickCount=1)

    def touch(self, kind, *points):
        self.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y} for x, y in points])

    def box(self, name):
        """Where an element is in the window, which scrolls to it: left, top, width, height."""
        return self.value("(() => { const e = document.getElementById('%s'); e.scrollIntoView({block: 'center'}); "
                          "const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()" % name)

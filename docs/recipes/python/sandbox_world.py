"""A new world of a running payout sandbox for each test, over HTTP, with only the standard library."""

import json
import os
import urllib.error
import urllib.request
import uuid


class World:
    """What one key sees: its wallet, its clock, its rules, its journal. No other test has this key."""

    def __init__(self, name):
        self.url = os.environ.get("PAYOUT_URL", "http://127.0.0.1:3000")
        self.api_key = f"sk_test_{uuid.uuid4().hex}"
        self.name = name  # in reports: at most 120 characters, all ASCII

    def control(self, method, path, body=None):
        """One call of the control API, say control("POST", "/clock/advance", {"by": "2h"}). What is not JSON is returned as text."""
        request = urllib.request.Request(
            f"{self.url}/_sandbox{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.api_key}",
                "Content-Type": "application/json",
                "X-Sandbox-World-Name": self.name,
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                text = response.read().decode()
                return json.loads(text) if response.headers.get_content_type() == "application/json" else text
        except urllib.error.HTTPError as refusal:
            raise RuntimeError(f"{method} {path}: {refusal.code} {refusal.read().decode()}") from None

    def freeze(self):
        return self.control("POST", "/clock/freeze")

    def speed(self, speed):
        """3600: an hour passes in each second."""
        return self.control("PUT", "/clock", {"speed": speed})

    def advance(self, by):
        """Advances the clock, and returns the changes."""
        return self.control("POST", "/clock/advance", {"by": by})["changes"]

    def rule(self, **rule):
        return self.control("POST", "/rules", rule)

    def verify(self, **expected):
        """Checks the journal. The message shows the closest requests."""
        answer = self.control("POST", "/requests/verify", expected)
        assert answer["passed"], answer["message"]

    def balance(self):
        return self.control("GET", "/wallet")["balance"]

    def expect_good_conduct(self, **settings):
        """Asks the referee how the client, which must be done, behaved. Fails for an error or a warning, if the client sent nothing,
        and if `paid-twice` is inconclusive in spite of an intent. The message is the report."""
        self.control("PUT", "/referee", settings)
        assert self.control("GET", "/requests?limit=1")["requests"], f"{self.name}: the client sent no request with this key"
        report = self.control("GET", "/referee?ended=true")
        (paid_twice,) = [check for check in report["checks"] if check["id"] == "paid-twice"]
        is_blind = "intent" in settings and paid_twice["verdict"] == "inconclusive"
        is_good = report["passed"] and not report["counts"]["warning"] and not is_blind
        assert is_good, self.control("GET", "/referee?ended=true&format=text")

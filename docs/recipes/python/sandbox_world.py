"""A new world of a running payout sandbox for each test, over HTTP, with only the standard library."""

import json
import os
import urllib.request
import uuid


class World:
    """What one key sees: its wallet, its clock, its rules, its journal. No other test has this key."""

    def __init__(self):
        self.url = os.environ.get("PAYOUT_URL", "http://127.0.0.1:3000")
        self.api_key = f"sk_test_{uuid.uuid4().hex}"

    def control(self, method, path, body=None):
        """One call of the control API, say control("POST", "/clock/advance", {"by": "2h"})."""
        request = urllib.request.Request(
            f"{self.url}/_sandbox{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.api_key}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)

    def freeze(self):
        return self.control("POST", "/clock/freeze")

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
        """Asks the referee how the client, which must be done, behaved. The message has every error and every warning."""
        self.control("PUT", "/referee", settings)
        report = self.control("GET", "/referee?ended=true")
        found = [finding for check in report["checks"] for finding in check["findings"]]
        grave = [f"{each['message']}; fix: {each['fix']}" for each in found if each["severity"] != "notice"]
        assert not grave, "\n".join(grave)

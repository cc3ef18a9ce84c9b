"""The payout client under test: replace it with yours. It sends the same reference again after a lost answer."""

import json
import urllib.error
import urllib.parse
import urllib.request


class PayoutClient:
    def __init__(self, url, api_key, timeout=0.3, tries=3):
        self.url, self.api_key, self.timeout, self.tries = url, api_key, timeout, tries

    def pay(self, payout):
        """Returns the HTTP status and the body."""
        for attempt in range(1, self.tries + 1):
            try:
                return self._send("/payout/initiate", payout)
            except OSError:  # timeout, reset, closed: the payout may have happened or not
                if attempt == self.tries:
                    raise

    def status(self, client_ref_id):
        return self._send("/payout/status?" + urllib.parse.urlencode({"client_ref_id": client_ref_id}))[1]["data"]

    def _send(self, path, body=None):
        request = urllib.request.Request(
            self.url + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.api_key}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as refusal:  # an OSError too, but one that has an answer
            return refusal.code, json.load(refusal)

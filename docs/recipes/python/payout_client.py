"""The payout client under test: replace it with yours. When it cannot know whether a payout happened, it sends the same reference
again, which cannot pay twice; when that does not help, it asks."""

import http.client
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request

TIMEOUT = float(os.environ.get("PAYOUT_TIMEOUT_MS", "300")) / 1000  # for every request: one that hangs would hang forever


class PayoutClient:
    def __init__(self, url, api_key, timeout=TIMEOUT, tries=3):
        self.url, self.api_key, self.timeout, self.tries = url, api_key, timeout, tries

    def pay(self, payout):
        """Returns the HTTP status and the body: of the response, or else of the status."""
        for attempt in range(self.tries):
            try:
                return self._send("/payout/initiate", payout)
            except OutcomeUnknown as unknown:
                if unknown.must_wait:
                    break
                time.sleep(0.1 * 2**attempt)
        return self._status(payout["client_ref_id"])

    def status(self, client_ref_id):
        return self._status(client_ref_id)[1]["data"]

    def _status(self, client_ref_id):
        return self._send("/payout/status?" + urllib.parse.urlencode({"client_ref_id": client_ref_id}))

    def _send(self, path, body=None):
        request = urllib.request.Request(
            self.url + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.api_key}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as refusal:
            if refusal.code >= 500:
                raise OutcomeUnknown("Retry-After" in refusal.headers) from refusal
            return refusal.code, json.load(refusal)
        except (OSError, http.client.HTTPException, ValueError) as no_answer:  # timeout, reset, half a response, no JSON
            raise OutcomeUnknown() from no_answer


class OutcomeUnknown(Exception):
    """The payout may have happened or not: ask again later."""

    def __init__(self, must_wait=False):
        self.must_wait = must_wait

"""For pytest: starts a sandbox on a free port, once for all tests, unless PAYOUT_URL names one that runs."""

import json
import os
import subprocess

import pytest

PROGRAM = os.environ.get("PAYOUT_SANDBOX", ".payout-sandbox/package/dist/main.cjs")


@pytest.fixture(scope="session", autouse=True)
def sandbox():
    if "PAYOUT_URL" in os.environ:
        yield os.environ["PAYOUT_URL"]
        return
    with subprocess.Popen(["node", PROGRAM, "--port", "0"], stdout=subprocess.PIPE, text=True) as process:
        try:
            os.environ["PAYOUT_URL"] = json.loads(process.stdout.readline())["url"]
            yield os.environ["PAYOUT_URL"]
        finally:
            process.terminate()

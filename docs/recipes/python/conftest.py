"""For pytest: starts a sandbox on a free port, once for all tests, unless PAYOUT_URL names one that runs."""

import json
import os
import subprocess
from pathlib import Path

import pytest

PROGRAM = Path(os.environ.get("PAYOUT_SANDBOX") or Path(__file__).with_name(".payout-sandbox") / "package/dist/main.cjs")


@pytest.fixture(scope="session", autouse=True)
def sandbox():
    if "PAYOUT_URL" in os.environ:
        yield os.environ["PAYOUT_URL"]
        return
    if not PROGRAM.is_file():
        pytest.exit(f"the program was not found at {PROGRAM.absolute()}: see docs/install.md of the sandbox", 1)
    with subprocess.Popen(["node", PROGRAM, "--port", "0"], stdout=subprocess.PIPE, text=True) as process:
        try:
            os.environ["PAYOUT_URL"] = json.loads(process.stdout.readline())["url"]
            yield os.environ["PAYOUT_URL"]
        finally:
            process.terminate()

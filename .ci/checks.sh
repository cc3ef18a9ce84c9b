# What .ci/run and .ci/full share: checks that are counted, the suite of tests, and the line at the end.
# Sourced, with the top of the clone as the working directory.
LTS=24
passed=0
failed=0
report=$(mktemp)
outputs=$(mktemp -d)
trap 'rm -rf "$report" "$outputs"' EXIT

verdicts=()

verdict() { # verdict TEXT START: one line now, and again at the end
  verdicts+=("$1 ($((SECONDS - $2)) s)")
  echo "--- ${verdicts[-1]}"
}

check() { # check NAME COMMAND...: counts as one
  local name=$1 start=$SECONDS
  shift
  echo "--- $name"
  if "$@"; then
    passed=$((passed + 1))
    verdict "$name: passed" "$start"
  else
    failed=$((failed + 1))
    verdict "$name: FAILED" "$start"
  fi
}

begun=()

begin() { # begin NAME COMMAND...: a check that runs beside others, after them where both could; `collect` shows and counts it
  (
    failed=0
    check "$1" nice "${@:2}"
    exit "$failed"
  ) >"$outputs/${#begun[@]}" 2>&1 &
  begun+=($!)
}

collect() { # waits for the checks that were begun, and shows what those wrote that failed
  local nth
  for nth in "${!begun[@]}"; do
    if wait "${begun[nth]}"; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      cat "$outputs/$nth"
    fi
    verdicts+=("$(tail -n 1 "$outputs/$nth" | cut -c 5-)")
  done
  begun=()
}

finish() {
  printf '%s\n' '--- all checks' "${verdicts[@]}" "$SECONDS s in all"
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
  exit
}

# suite COMMAND...: runs the tests with this command and counts each of them. A test that needs something of the machine
# may be skipped for a user; here that is a failure. What failed is said again at the end, where a shortened log still has it.
suite() {
  local start=$SECONDS counts ok bad line
  rm -f "$report"
  "$@" --reporter=default --reporter=json --outputFile.json="$report"
  counts=$(node -e '
    const r = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"));
    const skipped = r.numPendingTests + r.numTodoTests;
    const broken = r.numFailedTests + skipped + (r.success || r.numFailedTests ? 0 : 1);
    if (skipped) console.error(skipped + " skipped: install what they need");
    console.log(r.numPassedTests, r.numTotalTests ? broken : broken + 1);
  ' "$report") || counts="0 1"
  read -r ok bad <<<"$counts"
  passed=$((passed + ok))
  failed=$((failed + bad))
  verdict "tests: $ok passed, $bad failed" "$start"
  while read -r line; do verdicts+=("  $line"); done < <(node -e '
    const { testResults } = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"));
    for (const { name, status, message, assertionResults } of testResults) {
      const failures = assertionResults.filter((test) => test.status === "failed");
      for (const test of failures) console.log(name + " > " + test.fullName + ": " + test.failureMessages.join(" | ").slice(0, 600).replaceAll("\n", " "));
      if (status === "failed" && !failures.length) console.log(name + ": " + message.slice(0, 600).replaceAll("\n", " "));
    }
  ' "$report")
}

# What the tests use beside Node: curl for the README's commands, util-linux's script for a terminal, Python for its recipe,
# chromium for the dashboard, redis-server for worlds in a store, openssl for a store behind TLS, pgrep to see that nothing is left.
install_needs() {
  has_all curl script python3 chromium-headless-shell redis-server openssl pgrep && return
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends curl bsdutils python3 chromium-headless-shell fonts-dejavu-core redis-server openssl procps
}
has_all() { for tool; do command -v "$tool" >/dev/null || return 1; done; }

# Installs all that the checks need, and ends here if it cannot be had.
prepare() {
  begin 'npm ci' npm ci --ignore-scripts --no-audit --no-fund # beside apt-get: both wait for the network
  check 'what the tests need' install_needs
  collect
  [ "$failed" -eq 0 ] || finish
}

# Sourced by checks that need a sandbox; $root is the clone, whose dist must have been built.

# The command of a page of docs that begins so, as it stands there.
command_of() { # command_of PAGE BEGINNING
  node -e '
    const [page, beginning] = process.argv.slice(1);
    const blocks = [...require("node:fs").readFileSync(page, "utf8").matchAll(/```sh\n(.*?)```/gs)].map(([, shell]) => shell);
    const shell = blocks.find((block) => block.startsWith(beginning));
    if (shell === undefined) throw new Error(`${page} has no command that begins with ${beginning}`);
    console.log(shell);
  ' "$root/docs/$1.md" "$2"
}

# start_sandbox FLAGS...: on a free port. Its address is in $url, its process in $sandbox, what it writes in $folder/sandbox.log.
start_sandbox() {
  node "$root/dist/main.cjs" --port 0 "$@" >"$folder/sandbox.log" 2>&1 &
  sandbox=$!
  for _ in $(seq 1200); do
    url=$(sed -nE 's/.*"url":"([^"]+)".*/\1/p' "$folder/sandbox.log" | head -1)
    [ -n "$url" ] && return
    kill -0 "$sandbox" 2>/dev/null || break
    sleep 0.05
  done
  cat "$folder/sandbox.log"
  return 1
}

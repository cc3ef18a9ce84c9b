# Sourced by checks that need a sandbox; $root is the clone, whose dist must have been built.

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

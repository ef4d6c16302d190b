#!/bin/bash
# Wraps each program that installs packages or makes users: first in the PATH of a build. A devbox without its own system
# can keep neither, so the call is recorded as skipped and succeeds. With its own system, installs run and only failures
# are recorded as skipped. Failed downloads are recorded in both. Any other call runs the real program.
name=${0##*/}
folder=${0%/*}

skip() {
  local call="$name${*:+ $*}" tail=
  if [[ $DEVDECK_BUILD_TRIES ]]; then
    local output status
    output=$(mktemp)
    (run "$@") >"$output" 2>"$output.error"
    status=$?
    cat "$output"
    cat "$output.error" >&2
    tail=$(cat "$output" "$output.error" | grep -v '^[[:space:]]*$' | tail -n 1 | cut -c 1-200)
    rm -f "$output" "$output.error"
    ((status == 0)) && exit 0
    how=skipped tail=" (exit code $status${tail:+: $tail})"
  fi
  echo "devdeck: skipped: $call" >&2
  echo "Dockerfile line $DEVDECK_DOCKERFILE_LINE: $how: ${call//$'\n'/ }${tail//$'\n'/ }" >>"$folder/skipped"
  exit 0
}
how=skipped

# A pipe or an || may hide a failed download, so it is recorded; the exit code stays.
fetch() {
  (run "$@")
  local status=$?
  if ((status != 0)) && [[ ! "$*" =~ (localhost|127\.0\.0\.1|\[::1\]) ]]; then
    local call="$name $*"
    echo "Dockerfile line $DEVDECK_DOCKERFILE_LINE: failed: ${call//$'\n'/ } (exit code $status)" >>"$folder/skipped"
  fi
  exit $status
}

# True if pip already has each named package in the named version.
is_installed() {
  local word isInstall= some=
  for word in "$@"; do
    case $word in
      -r | -c | -e | -t | --requirement* | --constraint* | --editable* | --target*) return 1 ;;
      -*) continue ;;
      install) isInstall=1 && continue ;;
    esac
    some=1
    python3 -c "$in_python" "$word" 2>/dev/null || return 1
  done
  [[ $isInstall && $some ]]
}
in_python='import importlib.metadata as m, re, sys
name, version = re.fullmatch(r"([\w.-]+)(?:==([\w.]+))?", sys.argv[1]).groups()
found = m.version(name)
sys.exit(version not in (None, found))'

run() {
  local IFS=: each
  for each in $PATH; do
    [[ $each != "$folder" && -f $each/$name && -x $each/$name ]] && exec "$each/$name" "$@"
  done
  echo "$name: command not found" >&2
  exit 127
}

command=
for word in "$@"; do
  [[ $word == -* ]] && continue
  command=$word
  break
done

case $name in
  pip | pip3) [[ $DEVDECK_BUILD_TRIES ]] || is_installed "$@" && how='skipped, already installed' ;;
esac

case $name in
  pip*) installing='install|uninstall|download' ;;
  npm) installing='install|i|ci|add|update' ;;
  pnpm) installing='install|i|add' ;;
  yarn) installing='install|add|global' ;;
  bun) installing='install|add' ;;
  gem | bundle | pipx) installing='install' ;;
  cargo) installing='install|fetch' ;;
  go) installing='install|get|mod' ;;
  conda | mamba | micromamba) installing='install|create|update|env' ;;
  uv) installing='pip|sync|tool|add|python|venv' ;;
  poetry) installing='install|add' ;;
  dpkg) [[ " $* " =~ \ (-i|-r|-P|--(install|unpack|configure|remove|purge|add-architecture))[\ =] ]] && skip "$@" || run "$@" ;;
  rpm) [[ " $* " =~ \ (-[iUFe]|--(install|upgrade|freshen|erase|import)\ ) ]] && skip "$@" || run "$@" ;;
  curl | wget) fetch "$@" ;;
  git) [[ "$*" =~ ^(-[Cc]\ [^\ ]+\ |--[a-z-]+(=[^\ ]*)?\ )*(clone|fetch|pull|ls-remote|submodule)(\ |$) ]] && fetch "$@" || run "$@" ;;
  # A devbox has its folders at / from the start; in an image this would succeed.
  mkdir)
    for word in "$@"; do [[ $word =~ ^/[^/]+/?$ && -d $word ]] && run -p "$@"; done
    run "$@"
    ;;
  # The single user of a devbox stands in for root.
  sudo)
    if [[ $DEVDECK_BUILD_TRIES ]] && type -P -a sudo | grep -qvF "$folder/"; then run "$@"; fi
    while [[ $1 == -* ]]; do
      [[ $1 == -[ugp] ]] && shift
      shift
    done
    exec env "$@"
    ;;
  *) skip "$@" ;;
esac
[[ $name == yarn && $# == 0 || $command =~ ^($installing)$ ]] && skip "$@"
run "$@"

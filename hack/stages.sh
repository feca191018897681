# shellcheck shell=bash
# Runs the stages of a test, one after the other or side by side. A stage that fails stops no other. At the end a summary says how long each took, which
# failed, and which commands run again what failed. Sourced, never run; needs lib.sh.
#
# A stage appends these commands to the file $AGAIN (see "again"). Without one, the summary names $RUN_AGAIN, which runs everything.
# $RUN_BEFORE is what the summary says before the commands, and $FINALLY a command that runs at the end, whatever happened.

STAGES=$(mktemp -d)
# Where this script is a stage itself, what failed is told there, too.
outer=${AGAIN:-}
took=() failed=()
# The script sets it after its last stage: bash does not tell an EXIT trap that a signal ended it.
completed=''
# Of what runs in the background, by name: its process group and when it began.
declare -A groups=() began=()
# How each stage has ended, by name: passed or failed.
declare -A result=()

# again COMMAND: names a command that runs again what failed.
again() { [ -z "${AGAIN:-}" ] || printf '%s\n' "$*" >>"$AGAIN"; }

# file NAME ENDING: the file of a stage.
file() { echo "$STAGES/${1//[^a-zA-Z0-9]/-}.$2"; }

# record NAME STATUS SECONDS: keeps how a stage has ended.
record() {
  took+=("$(printf '%6d s  %s' "$3" "$1")")
  result[$1]=passed
  # A stage names commands before it knows whether they are needed.
  [ "$2" != 0 ] || { rm -f "$(file "$1" again)"; return 0; }
  result[$1]=failed
  failed+=("$1")
  printf '\n== FAILED: %s\n' "$1"
}

# attempt NAME COMMAND...: runs a command in a shell of its own, and returns its status.
attempt() (
  set -e
  AGAIN=$(file "$1" again)
  export AGAIN
  "${@:2}"
)

# stage NAME COMMAND...: runs a stage and prints what it says.
stage() {
  local name=$1 since=$SECONDS status
  printf '\n== %s\n' "$name"
  # Not "attempt || status=$?": bash ignores errexit in there, and the stage would go on after a failed line.
  set +e
  attempt "$@"
  status=$?
  set -e
  record "$name" "$status" $((SECONDS - since))
}

# begin NAME COMMAND...: runs a stage in the background, in a process group of its own. What it says is kept.
begin() {
  began[$1]=$SECONDS
  set -m
  attempt "$@" >"$(file "$1" log)" 2>&1 </dev/null &
  set +m
  groups[$1]=$!
}

# join NAME: waits for a stage in the background, and prints what it has said if it failed.
join() {
  local name=$1 status=0
  wait "${groups[$name]}" || status=$?
  unset "groups[$name]"
  printf '\n== %s\n' "$name"
  if [ $status = 0 ]; then echo passed; else cat "$(file "$name" log)"; fi
  record "$name" "$status" $((SECONDS - began[$name]))
}

# needs NAME STAGE: whether a stage can run. If a stage that it needs has failed, it says so and counts as failed, too.
needs() {
  [ "${result[$2]:-}" != passed ] || return 0
  failed+=("$1 (not run: it needs \"$2\")")
  return 1
}

# gone GROUP: waits until a process group that was told to end is gone, and kills what is left after ten seconds.
gone() {
  for _ in {1..100}; do
    kill -0 -- "-$1" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL -- "-$1" 2>/dev/null || true
  wait "$1" 2>/dev/null || true
}

# interrupted: ends what still runs in the background, and prints what it had said.
interrupted() {
  local name
  for name in "${!groups[@]}"; do kill -- "-${groups[$name]}" 2>/dev/null || true; done
  for name in "${!groups[@]}"; do
    gone "${groups[$name]}"
    printf '\n== %s was stopped; it had said:\n' "$name"
    cat "$(file "$name" log)"
  done
}

# summary: prints how long the stages took, and what failed. The status of the script is 1 if something did.
summary() {
  local status=$? name commands
  trap - EXIT
  interrupted
  [ -z "${FINALLY:-}" ] || "$FINALLY"
  printf '\n'
  [ ${#took[@]} -eq 0 ] || printf '%s\n' "${took[@]}"
  if [ ${#failed[@]} -gt 0 ]; then
    status=1
    printf '\n== %d failed. To run again what failed:\n' ${#failed[@]}
    [ -z "${RUN_BEFORE:-}" ] || printf '%s\n' "$RUN_BEFORE"
    for name in "${failed[@]}"; do
      printf '  %s\n' "$name"
      commands=$(file "$name" again)
      [ -s "$commands" ] || [[ $name == *'(not run: '* ]] || echo "$RUN_AGAIN" >"$commands"
      [ ! -s "$commands" ] || sed 's/^/    /' "$commands"
    done
    [ -z "$outer" ] || { echo "${RUN_BEFORE:-}"; cat "$STAGES"/*.again; } | sed '/^$/d' >>"$outer"
  elif [ -z "$completed" ]; then
    [ "$status" != 0 ] || status=1
    printf '\n== Stopped before the last stage.\n'
  else
    printf '\n== All %d stages passed.\n' ${#took[@]}
  fi
  rm -rf "$STAGES"
  exit "$status"
}

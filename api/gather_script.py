"""The gathering as a plain POSIX shell script, for machines without Python: the same commands, files and bounds."""

from __future__ import annotations

import re
import shlex

from api.gather_plan import Plan, Step

_HEAD = r"""#!/bin/sh
# Gathers what `faultwalk triage` reads. Every command below only reads; nothing on this host is changed, and secrets of the
# usual forms are hidden. Written by `faultwalk gather --script`; usage: sh gather.sh [FILE.tar.gz]
set -u
umask 077
LC_ALL=C
export LC_ALL
host=$(hostname 2>/dev/null || uname -n)
host=${host%%.*}
stamp=$(date -u +%Y%m%dT%H%M%SZ)
out=${1:-faultwalk-$host-$stamp.tar.gz}
work=${TMPDIR:-/tmp}/faultwalk-gather.$$
mkdir "$work" || exit 1
mkdir "$work/$host" "$work/state" || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
list=$work/$host/gather.txt
echo "faultwalk gather on $host, $(date -u +%Y-%m-%dT%H:%M:%SZ); file, outcome, command:" >"$list"
sys=${FAULTWALK_SYS:-/sys}
most=@BYTES@
apart=@APART@

nap() { sleep 0.1 2>/dev/null || sleep 1; }

# Hides keys, tokens and passwords, as `faultwalk` itself does.
hide() {
  sed -E \
    -e 's/(AKIA|ASIA)[0-9A-Z]{16}/[aws-key hidden]/g' \
    -e 's/gh[opsur]_[A-Za-z0-9]{30,255}/[github-token hidden]/g' \
    -e 's/github_pat_[A-Za-z0-9_]{40,255}/[github-token hidden]/g' \
    -e 's/glpat-[A-Za-z0-9_-]{20,64}/[gitlab-token hidden]/g' \
    -e 's/hf_[A-Za-z0-9]{30,64}/[hugging-face-token hidden]/g' \
    -e 's/xox[abeprs]-[A-Za-z0-9-]{10,200}/[slack-token hidden]/g' \
    -e 's/sk-[A-Za-z0-9_-]{20,200}/[api-key hidden]/g' \
    -e 's/eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/[web-token hidden]/g' \
    -e 's/([Bb][Ee][Aa][Rr][Ee][Rr]|[Bb][Aa][Ss][Ii][Cc]) [A-Za-z0-9._~+\/=-]{12,}/\1 [credentials hidden]/g' \
    -e 's/:\/\/[^[:space:]\/:@]+:[^[:space:]\/@]+@/:\/\/[password-in-url hidden]@/g' \
@SECRETS@
    -e '/-----BEGIN [A-Z ]*PRIVATE KEY-----/,/-----END/c\
[private-key hidden]'
}

note() { echo "$1 | $2 | $3" >>"$list"; }

# run NAME PROMPT SECONDS PROGRAM ARGUMENT...: into NAME.txt, for so long and not more than so many bytes.
run() {
  name=$1 prompt=$2 seconds=$3
  shift 3
  if ! command -v "$1" >/dev/null 2>&1; then
    note "$name.txt" absent "$*"
    return 0
  fi
  if [ -e "$work/state/hung-$1" ]; then
    note "$name.txt" 'not started again' "$*"
    return 0
  fi
  rm -f "$work/state/done" "$work/state/pid"
  (
    ulimit -f $((most / 512)) 2>/dev/null
    "$@" >"$work/state/output" 2>&1 </dev/null &
    echo $! >"$work/state/pid"
    wait $!
    echo $? >"$work/state/done"
  ) 2>/dev/null &
  began=$(date +%s)
  status=
  while [ ! -s "$work/state/done" ]; do
    if [ $(($(date +%s) - began)) -ge "$seconds" ]; then
      status="stopped after $seconds s"
      : >"$work/state/hung-$1"
      pid=$(cat "$work/state/pid" 2>/dev/null) && {
        kill "$pid" 2>/dev/null
        nap
        kill -9 "$pid" 2>/dev/null
      }
      break
    fi
    nap
  done
  if [ -z "$status" ]; then
    status=$(cat "$work/state/done")
    if [ "$status" = 0 ]; then status=ok; else status="exit $status"; fi
  fi
  note "$name.txt" "$status" "$*"
  if [ -s "$work/state/output" ]; then
    {
      case $prompt in
        stamped)
          echo "root@$host:~# date -u +%FT%TZ; $*"
          date -u +%Y-%m-%dT%H:%M:%SZ
          ;;
        node) echo "root@$host:~# $*" ;;
        *) echo "\$ $*" ;;
      esac
      cat "$work/state/output"
    } | hide >"$work/$host/$name.txt"
  fi
  rm -f "$work/state/output"
  return 0
}

cards() {
  for card in "$sys"/class/net/*; do
    if [ -e "$card/device" ]; then echo "${card##*/}"; fi
  done
}

# Counters of InfiniBand and RoCE ports, with the time of the reading.
port_counters() {
  found=
  for port in "$sys"/class/infiniband/*/ports/*; do
    [ -d "$port" ] || continue
    device=${port%/ports/*}
    if [ -z "$found" ]; then echo "root@$host:~# read_counters"; fi
    found=1
    echo "# $(date -u +%Y-%m-%dT%H:%M:%SZ) ${device##*/} port ${port##*/}"
    for file in "$port"/counters/* "$port"/hw_counters/*; do
      value=$(cat "$file" 2>/dev/null) || continue
      case $value in
        '' | *[!0-9]*) ;;
        *) echo "${file##*/} $value" ;;
      esac
    done
  done
  [ -n "$found" ]
}

twice() {
  if port_counters >"$work/state/counters"; then mv "$work/state/counters" "$work/$host/infiniband-counters-$1.txt"; fi
@TWICE@
  return 0
}

"""
_NAMES = ("password", "passwd", "secret", "api_?key", "access_?key", "token")
_PAIR = (  # a name, a sign, a value that is long enough to be one
    r"""([\"']?[[:space:]]{0,2}[=:][[:space:]]{0,2}[\"']?)[^][\"',;&[:space:]]{6,}"""
)
_TAIL = r"""
rest=$((apart - ($(date +%s) - first)))
if [ "$rest" -gt 0 ]; then sleep "$rest"; fi
twice 2
(cd "$work" && tar -cf - "$host") | gzip -c >"$work/packed" && mv "$work/packed" "$out" || exit 1
echo "$out"
echo "Diagnose it: faultwalk triage $out"
"""


def make_script(plan: Plan) -> str:
    """Return the script of a plan."""
    node = any(step.on == "node" for step in plan.steps)
    twice = [_line(step, "-$1") for step in plan.steps if step.twice] if node else []
    head = _HEAD.replace("@BYTES@", str(plan.limits.bytes)).replace("@APART@", str(plan.limits.apart))
    head = head.replace("@SECRETS@", "\n".join(f"    -e {_hide_pair(name)} \\" for name in _NAMES))
    head = head.replace("@TWICE@", "\n".join("  " + line.replace("\n", "\n  ") for line in twice))
    body = ["first=$(date +%s)", "twice 1", *(_line(step, "") for step in plan.steps if not step.twice)]
    return head + "\n".join(body) + "\n" + _TAIL


def _hide_pair(name: str) -> str:
    """Return the quoted sed command that hides the value of such a name, in letters of any size."""
    letters = re.sub(r"[a-z]", lambda match: f"[{match[0].upper()}{match[0]}]", name)
    return shlex.quote(f"s/({letters}){_PAIR}/\\1\\2[password hidden]/g")


def _line(step: Step, suffix: str) -> str:
    prompt = "stamped" if step.twice else step.on
    words = " ".join('"$card"' if word == "{netdev}" else _quote(word) for word in step.arguments)
    if step.each:
        return f'for card in $(cards); do\n  run "{step.name}-$card{suffix}" {prompt} {step.seconds} {words}\ndone'
    return f'run "{step.name}{suffix}" {prompt} {step.seconds} {words}'


def _quote(word: str) -> str:
    """Return a word for the shell; patterns below /sys, /proc and /dev are for it to spell out."""
    return word if re.fullmatch(r"/(?:sys|proc|dev)/[\w/*.:-]+", word) else shlex.quote(word)

#!/usr/bin/env bash
# Postgres 17 with pgvector for tests and benchmarks, in a folder of its own.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/postgres.sh install|start|stop|url FOLDER

  install  puts Debian trixie's Postgres 17 and pgvector into FOLDER (by debootstrap, about 550 MB)
  start    starts the server; makes the database cluster when there is none
  stop     stops it; the data stay
  url      prints the connection string, for TEST_DATABASE_URL or DATABASE_URL

Each can be repeated. Nothing of the machine's own Postgres is touched, and the server listens on a
unix socket in FOLDER only. It trusts every local user and does not wait for the disk: for tests, not
for memories that you want to keep. To be rid of it: stop, then delete FOLDER.

install, start and stop need root (debootstrap and chroot) and a Debian or Ubuntu machine. Elsewhere
take any Postgres 15 or newer with pgvector 0.8 or newer and set TEST_DATABASE_URL yourself.

Environment: DEBIAN_MIRROR  where packages come from (default: what this machine's apt uses)
             PG_OPTIONS     more options for the server, such as "-c fsync=on"
TEXT
}

fail() {
  echo "scripts/postgres.sh: $*" >&2
  exit 1
}

case ${1:-} in -h | --help | help) usage && exit 0 ;; esac
[ $# -eq 2 ] || { usage >&2; exit 2; }

suite=trixie
programs=/usr/lib/postgresql/17/bin
command=$1
folder=$(realpath -m -- "$2")

# The kernel keeps a socket's path in 108 bytes, the last of which is NUL.
socket=$folder/pg/.s.PGSQL.5432
[ "${#socket}" -le 107 ] || fail "$folder is too long a path for a unix socket: at most $((107 - ${#socket} + ${#folder})) characters"
[[ $folder =~ ^/[A-Za-z0-9._/-]+$ ]] || fail "$folder: only letters, digits and . _ / - can stand in the path, since it becomes part of a URL"

need_root() { [ "$(id -u)" -eq 0 ] || fail "$command needs root"; }
installed() { [ -e "$folder/.ready" ]; }
inside() { chroot "$folder" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/pg "$@"; }
as_postgres() { inside /usr/sbin/runuser -u postgres -- "$@"; }
running() { as_postgres "$programs/pg_ctl" -D /pg/data status >/dev/null 2>&1; }

# The first Debian mirror of apt's own lists, in either of their two formats; empty when there is none.
apt_mirror() {
  cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
    awk '/^(URIs:|deb )/ { for (i = 2; i <= NF; i++) if ($i ~ /^https?:.*\/debian\/?$/) { print $i; exit } }' || true
}

install_postgres() {
  need_root
  if installed; then return; fi
  # Deletes its own unfinished work and nothing else.
  if [ -n "$(ls -A "$folder" 2>/dev/null)" ] && [ ! -e "$folder/.unfinished" ]; then
    fail "$folder holds something else; give another folder"
  fi
  if ! command -v debootstrap >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq || fail 'apt-get update failed; debootstrap has to be installed'
    apt-get install -y -qq --no-install-recommends debootstrap >/dev/null || fail 'debootstrap cannot be installed'
  fi
  rm -rf --one-file-system "$folder"
  mkdir -p "$folder"
  touch "$folder/.unfinished"
  local mirror
  mirror=${DEBIAN_MIRROR:-$(apt_mirror)}
  echo "installing Postgres 17 into $folder (one or two minutes, log: $folder.log)" >&2
  # without a mirror debootstrap takes its own
  if ! debootstrap --variant=minbase --include=postgresql-17,postgresql-17-pgvector "$suite" "$folder" ${mirror:+"$mirror"} >"$folder.log" 2>&1; then
    tail -n 20 "$folder.log" >&2
    fail "debootstrap failed; the whole log is $folder.log"
  fi
  rm -rf "$folder"/var/cache/apt/archives/*.deb "$folder"/var/lib/apt/lists/*
  mv "$folder/.unfinished" "$folder/.ready"
}

start_postgres() {
  need_root
  installed || fail "nothing is installed in $folder: run scripts/postgres.sh install $folder"
  if running; then return; fi
  mkdir -p "$folder/pg"
  inside chown postgres:postgres /pg
  if [ ! -e "$folder/pg/data/PG_VERSION" ]; then
    as_postgres "$programs/initdb" -D /pg/data -U postgres --auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-sync >/dev/null
  fi
  local options='-c listen_addresses= -c unix_socket_directories=/pg -c port=5432'
  # Durability costs a test suite more than half of its time. JIT only slows short statements.
  options+=' -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c jit=off'
  if ! as_postgres "$programs/pg_ctl" -D /pg/data -w -l /pg/log -o "$options ${PG_OPTIONS:-}" start >/dev/null; then
    tail -n 20 "$folder/pg/log" >&2
    fail "the server did not start; its log is $folder/pg/log"
  fi
}

stop_postgres() {
  need_root
  if installed && running; then as_postgres "$programs/pg_ctl" -D /pg/data -w -m fast stop >/dev/null; fi
}

case $command in
  install) install_postgres ;;
  start) start_postgres ;;
  stop) stop_postgres ;;
  url) echo "postgres://postgres@/postgres?host=$folder/pg" ;;
  *)
    usage >&2
    exit 2
    ;;
esac

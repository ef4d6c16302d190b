# Runs a command for `docker exec`. Prints its process group and pid first. Marks the end of both streams, because
# background processes may keep them open, with the exit status and the kernel's count of out-of-memory kills.
# Signals to the process group must not end this shell before the command.
trap : HUP INT QUIT USR1 USR2 ALRM TERM
mark=$1
shift
umask 022
/bin/sh -c 'echo "$PPID $$"; exec "$@"' sh "$@"
status=$?
kills=
for file in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
  [ -r "$file" ] && while read -r name value; do [ "$name" = oom_kill ] && kills=$value; done <"$file"
done
echo "$mark $status $kills"
echo "$mark" >&2
exit "$status"

# Usage: dockerd.sh FOLDER PID. Runs a container engine until the process ends, then removes its folder. The default
# address pools have room for 31 networks of all engines on the machine.
folder=$1 parent=$2
while kill -0 "$parent" 2>/dev/null && [ ! -e "$folder/stop" ]; do
  [ -e "$folder/pause" ] || kill -0 "$daemon" 2>/dev/null || {
    unshare --mount dockerd --default-ulimit nofile=1024:1024 --data-root "$folder/data" --exec-root "$folder/exec" \
      --default-address-pool base=10.128.0.0/12,size=26 -p "$folder/pid" -H "unix://$folder/docker.sock" >>"$folder/log" 2>&1 &
    daemon=$!
    echo "$daemon" >"$folder/daemon"
  }
  sleep 0.2
done
# An engine leaves its bridges on the host when it ends.
docker -H "unix://$folder/docker.sock" network prune --force >/dev/null 2>&1
kill "$daemon" 2>/dev/null
wait "$daemon"
rm -rf "$folder"

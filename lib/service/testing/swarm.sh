# Usage: swarm.sh FOLDER PID SUBNET. Runs three container engines and a registry until the process ends, then removes
# its folder. Each node is a machine of its own: network, host name, mounts and processes are in namespaces, so that the
# kernel removes everything when a node's first process is killed. Files below FOLDER control it: `stop`, `registry-off`,
# N/`off` (the node has no power) and N/`daemon-off`.
set -u
folder=$1 parent=$2 subnet=$3
link=ddsw${subnet##*.}

# In the namespaces of a node, but not yet among its processes: plugs it into the switch.
if [ "${4-}" = plug ]; then
  node=$5
  hostname "node-$node"
  nsenter --target "$(<"$folder/switch")" --net ip link del "port$node" 2>/dev/null
  # The same address after a restart.
  mac=$(printf '02:00:0a:4e:%02x:%02x' "${subnet##*.}" "$node")
  ip link add eth0 address "$mac" type veth peer name "port$node" netns "$(<"$folder/switch")"
  nsenter --target "$(<"$folder/switch")" --net ip link set "port$node" master bridge up
  # There is no default route: looking up an image elsewhere fails at once. The switch has a public address.
  ip addr add "$subnet.$node/24" dev eth0 && ip link set eth0 up && ip link set lo up
  ip route add "203.0.113.${subnet##*.}" via "$subnet.253"
  exec unshare --pid --fork --kill-child --mount-proc bash "$0" "$folder" "$parent" "$subnet" boot "$node"
fi

# The first process of a node.
if [ "${4-}" = boot ]; then
  node=$5 home=$folder/$5 daemon=
  # What a machine loses with its power.
  rm -rf "$home/exec" "$home/pid"
  while :; do
    if [ -e "$home/daemon-off" ]; then
      [ -z "$daemon" ] || kill -KILL "$daemon"
      daemon=
    elif [ -z "$daemon" ] || ! kill -0 "$daemon" 2>/dev/null; then
      dockerd --default-ulimit nofile=1024:1024 --no-new-privileges --data-root "$home/data" --exec-root "$home/exec" \
        -p "$home/pid" --cgroup-parent "/$link/$node" --insecure-registry "$subnet.253:5000" --dns "$subnet.253" \
        --tls=false -H "tcp://$subnet.$node:2375" -H "unix://$home/docker.sock" >>"$home/log" 2>&1 &
      daemon=$!
    fi
    sleep 0.2
  done
fi

# Ends with this script.
run() { setpriv --pdeathsig KILL "$@" & }
alive() { [ -n "$1" ] && kill -0 "$1" 2>/dev/null; }

run unshare --net sleep infinity
switch=$!
until [ "$(readlink "/proc/$switch/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
echo "$switch" >"$folder/switch"
in_switch() { nsenter --target "$switch" --net "$@"; }
ip link set "$link-port" netns "$switch"
ip addr add "$subnet.254/24" dev "$link" && ip link set "$link" up
# By default a bridge takes the lowest address of its ports, which come and go.
in_switch ip link add bridge address "$(printf '02:00:0a:4e:%02x:fd' "${subnet##*.}")" type bridge
in_switch ip addr add "$subnet.253/24" dev bridge
in_switch ip addr add "203.0.113.${subnet##*.}/32" dev bridge
for each in lo bridge; do in_switch ip link set "$each" up; done
in_switch ip link set "$link-port" master bridge up

printf 'version: 0.1\nstorage: {filesystem: {rootdirectory: %s}, delete: {enabled: true}}\nhttp: {addr: "%s:5000"}\n' \
  "$folder/registry" "$subnet.253" >"$folder/registry.yml"
registry= nodes=('' '' '' '')
for node in 1 2 3; do mkdir -p "$folder/$node"; done
while kill -0 "$parent" 2>/dev/null && [ ! -e "$folder/stop" ]; do
  if [ -e "$folder/registry-off" ]; then
    alive "$registry" && kill -KILL "$registry"
  elif ! alive "$registry"; then
    run nsenter --target "$switch" --net setpriv --pdeathsig KILL docker-registry serve "$folder/registry.yml" >>"$folder/registry.log" 2>&1
    registry=$!
  fi
  for node in 1 2 3; do
    if [ -e "$folder/$node/off" ]; then
      if alive "${nodes[node]}"; then
        # Without power no connection is closed.
        in_switch ip link set "port$node" down
        kill -KILL "${nodes[node]}"
        wait "${nodes[node]}" 2>/dev/null
        touch "$folder/$node/is-off"
      fi
    elif ! alive "${nodes[node]}"; then
      rm -f "$folder/$node/is-off"
      run unshare --net --uts --mount bash "$0" "$folder" "$parent" "$subnet" plug "$node"
      nodes[node]=$!
    fi
  done
  sleep 0.1
done
kill -KILL "${nodes[@]:1}" $registry "$switch" 2>/dev/null
wait
ip link del "$link"
for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/*; do
  until [ ! -d "$hierarchy/$link" ] || find "$hierarchy/$link" -depth -type d -exec rmdir {} + 2>/dev/null; do sleep 0.05; done
done
rm -rf "$folder"

import type { Duplex } from 'node:stream'
import { duplexPair } from 'node:stream'
import { createExec, type ExecTarget, killInside } from './exec.ts'
import { splitStreams } from './exec-streams.ts'

// Relays a connection to loopback with what images have. Prints its pid, then + once connected, or - if refused. bash can't
// close one direction alone, so it comes last.
const relay = `use IO::Socket::INET; $| = 1;
$s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$ARGV[0]") or do { print "-"; exit };
print "+";
if (!($child = fork)) { while (sysread(STDIN, $b, 65536)) { print $s $b; $s->flush } $s->shutdown(1); exit }
while (sysread($s, $b, 65536)) { print $b } kill "KILL", $child;`

const script = `echo $$
perl -MIO::Socket::INET -e 1 2>/dev/null && exec perl -e '${relay}' "$1"
grep -qi ":$(printf %04X "$1") [0-9]*:0000 0A" /proc/net/tcp /proc/net/tcp6 || { printf -- -; exit; }
printf +
command -v nc >/dev/null && exec nc 127.0.0.1 "$1"
exec bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$0"; cat <&0 >&3 & cat <&3; kill $!' "$1"`

/** Connects to a port of the container through a command in it, since a remote engine offers no other way. */
export const connectInside = async (target: ExecTarget, port: number): Promise<Duplex> => {
  const argv = ['/bin/sh', '-c', script, 'sh', String(port)]
  const { socket } = await createExec(target, { argv, env: {}, cwd: '/', stdin: true })
  const { stdout, stderr } = splitStreams(socket)
  let problem = ''
  stderr.setEncoding('utf8').on('data', (text: string) => {
    problem = (problem + text).slice(-500)
  })
  let hasEnded = false
  const head = await new Promise<string | undefined>((resolve) => {
    let read = Buffer.alloc(0)
    const take = (chunk: Buffer) => {
      read = Buffer.concat([read, chunk])
      const at = read.indexOf('\n') + 1
      if (at === 0 || read.length === at) return
      stdout.off('data', take).pause()
      if (read.length > at + 1) stdout.unshift(read.subarray(at + 1))
      resolve(read.toString('latin1', 0, at + 1))
    }
    stdout.on('data', take)
    stdout.once('end', () => {
      hasEnded = true
      resolve(undefined)
    })
  })
  const [pid, result] = head?.split('\n') ?? []
  if (result !== '+') {
    socket.destroy()
    const message = result ? `connect ECONNREFUSED 127.0.0.1:${port}` : `Can't connect inside the container: ${problem}`
    throw Object.assign(new Error(message), { code: 'ECONNREFUSED' })
  }
  const [ours, theirs] = duplexPair()
  stdout.pipe(theirs).pipe(socket)
  socket.once('close', () => ours.destroy())
  ours.once('close', () => {
    socket.destroy()
    // Otherwise the relay would wait for the listener to close the connection.
    if (!hasEnded) killInside(target, 'SIGKILL', `-${pid}`, undefined).catch(() => undefined)
  })
  return ours
}

import type { Duplex } from 'node:stream'
import { duplexPair } from 'node:stream'
import { createExec, type ExecTarget } from './exec.ts'
import { splitStreams } from './exec-streams.ts'

// Relays a connection to loopback with what images have. Prints + once connected, or - if refused. bash can't
// close one direction alone, so it comes last.
const relay = `use IO::Socket::INET; $| = 1;
$s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$ARGV[0]") or do { print "-"; exit };
print "+";
if (!($child = fork)) { while (sysread(STDIN, $b, 65536)) { print $s $b; $s->flush } $s->shutdown(1); exit }
while (sysread($s, $b, 65536)) { print $b } kill "KILL", $child;`

const script = `perl -MIO::Socket::INET -e 1 2>/dev/null && exec perl -e '${relay}' "$1"
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
  const first = await new Promise<Buffer | undefined>((resolve) => {
    stdout.once('data', (chunk: Buffer) => {
      stdout.pause()
      if (chunk.length > 1) stdout.unshift(chunk.subarray(1))
      resolve(chunk.subarray(0, 1))
    })
    stdout.once('end', () => resolve(undefined))
  })
  if (first?.toString() !== '+') {
    socket.destroy()
    const message = first
      ? `connect ECONNREFUSED 127.0.0.1:${port}`
      : `No way to connect inside the container: ${problem}`
    throw Object.assign(new Error(message), { code: 'ECONNREFUSED' })
  }
  const [ours, theirs] = duplexPair()
  stdout.pipe(theirs).pipe(socket)
  socket.once('close', () => ours.destroy())
  ours.once('close', () => socket.destroy())
  return ours
}

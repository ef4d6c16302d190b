import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Isolation } from '#lib/service/engine/engine.ts'
import { signal as sendSignal } from '#lib/service/engine/processes.ts'
import { diskFull, ServiceError } from '#lib/service/kit/errors.ts'
import { spawnProcess } from '#lib/service/kit/spawn.ts'

interface Tool {
  argv: readonly string[]
  /** Folders it reads and writes. Where devboxes are isolated it sees no others, but for the system's programs. */
  reads?: readonly string[]
  writes?: readonly string[]
  isolation: Isolation
  /** Put in its environment, to find it by when the service has died. */
  marks: Record<string, string>
  signal?: AbortSignal
  onOutput?: (line: string) => void
  onComplaint: (line: string) => void
}

/**
 * Runs a tool of the system on folders that a devbox may be changing at that moment. The devbox can replace a folder by
 * a link to anywhere before the tool looks its name up again, so the tool gets a root of its own. Resolves with its exit
 * code; after an abort rejects with the signal's reason once the tool is gone.
 */
const run = async ({ argv, reads = [], writes = [], isolation, marks, signal, onOutput, onComplaint }: Tool) => {
  signal?.throwIfAborted()
  const [file = '', ...args] = isolation === 'bubblewrap' ? confined(argv, reads, writes) : argv
  // C: the messages of the tools are parsed below and must be in English.
  const env: Record<string, string> = { PATH: '/usr/bin:/bin', LC_ALL: 'C', ...marks }
  const child = spawnProcess(file, args, {
    cwd: '/',
    env: env as NodeJS.ProcessEnv & typeof env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const kill = () => {
    if (child.pid !== undefined) sendSignal(-child.pid, 'SIGKILL')
  }
  signal?.addEventListener('abort', kill, { once: true })
  if (onOutput) createInterface({ input: child.stdout }).on('line', onOutput)
  else child.stdout.resume()
  createInterface({ input: child.stderr }).on('line', onComplaint)
  try {
    // Both streams have closed by then: no process of the tool is left.
    const [code] = (await once(child, 'close')) as [number | null]
    signal?.throwIfAborted()
    return code
  } finally {
    signal?.removeEventListener('abort', kill)
  }
}

const bwrap = '/usr/bin/bwrap'
// As root of a namespace it may read, and own, whatever the devbox made; without one it is only the service's user.
const asRoot = process.getuid?.() === 0 ? [bwrap] : ['/usr/bin/unshare', '--user', '--map-root-user', '--', bwrap]

const confined = (argv: readonly string[], reads: readonly string[], writes: readonly string[]): string[] => [
  ...asRoot,
  ...['--unshare-pid', '--unshare-ipc', '--die-with-parent'],
  // The C library needs it to set the mode of a folder that it may not open for writing.
  ...['--proc', '/proc'],
  // Debian's awk is a link to one of the alternatives.
  ...['/usr', '/bin', '/lib', '/lib64', '/etc/alternatives'].flatMap((path) => ['--ro-bind-try', path, path]),
  ...reads.flatMap((path) => ['--ro-bind', path, path]),
  ...writes.flatMap((path) => ['--bind', path, path]),
  ...['--', ...argv],
]

interface Copy {
  /** Folders; each keeps its last name. */
  from: readonly string[]
  /** An empty folder. */
  to: string
  isolation: Isolation
  marks: Record<string, string>
  signal?: AbortSignal
}

/**
 * Copies folders with everything in them: modes, times, links, extended attributes, holes. Blocks are shared where the
 * file system can, so that neither side sees what the other writes; nothing is hard-linked across.
 * Unspecified: files that are being written are copied as they are, and those that vanish meanwhile are left out.
 * Throws a ServiceError when anything else could not be copied.
 */
export const copyFolders = async ({ from, to, ...how }: Copy): Promise<void> => {
  const last = (line: string) => from.reduce((text, path) => text.replaceAll(path, path.split('/').at(-1) ?? ''), line)
  let problem: string | undefined
  const code = await run({
    ...how,
    argv: ['cp', '-a', '--reflink=auto', '--', ...from, to],
    reads: from,
    writes: [to],
    onComplaint: (line) => {
      if (!isVanished(line)) problem ??= shortened(last(line.replaceAll(`${to}/`, '')).replace(/^cp: /, ''))
    },
  })
  if (problem === undefined && (code === 0 || code === 1)) return
  if (problem !== undefined && /: (No space left on device|Disk quota exceeded)$/.test(problem)) throw diskFull()
  throw new ServiceError('internal', `The disk could not be copied: ${problem ?? `cp ended with ${code}`}`, {
    shouldRetry: false,
  })
}

/** Paths in a devbox can be of any length, and the reason comes last in the line. */
const shortened = (line: string) => (line.length > 400 ? `${line.slice(0, 200)}…${line.slice(-200)}` : line)

/** Whether cp complains of a file that was removed or replaced while it was at work. */
const isVanished = (line: string) =>
  /^cp: .*: (No such file or directory|Not a directory|Too many levels of symbolic links)$/.test(line) ||
  /^cp: (skipping file .* replaced while being copied|will not overwrite just-created )/.test(line)

/**
 * Bytes of data in the regular files below a folder nobody changes: a file with several names counts once, and holes
 * count nothing. Names and folders themselves are not counted.
 */
export const sizeOf = async (
  folder: string,
  how: { isolation: Isolation; marks: Record<string, string>; signal?: AbortSignal },
): Promise<number> => {
  const seen = new Set<string>()
  let bytes = 0
  let problem: string | undefined
  const code = await run({
    ...how,
    argv: ['find', folder, '-type', 'f', '-printf', '%n %i %s %b\\n'],
    reads: [folder],
    onOutput: (line) => {
      const [names = '', inode = '', size = '', blocks = ''] = line.split(' ')
      if (names !== '1') {
        if (seen.has(inode)) return
        seen.add(inode)
      }
      bytes += Math.min(Number(size), Number(blocks) * 512)
    },
    onComplaint: (line) => {
      problem ??= line
    },
  })
  if (code !== 0) throw new Error(problem ?? `find ended with ${code}`)
  return bytes
}

/**
 * Bytes that folders take on the disk, which a devbox may be changing meanwhile; a file with several names counts once.
 * Unspecified: files, folders and links count as `leastFileBytes` each where that is more. An empty file takes no block,
 * but one of the numbers that a file system has for its files, and all users of the machine have these together.
 */
export const usageOf = async (
  folders: readonly string[],
  how: { isolation: Isolation; marks: Record<string, string>; signal?: AbortSignal },
): Promise<number> => {
  let found: number[] = []
  const code = await run({
    ...how,
    argv: ['sh', '-c', `find "$@" -xdev -printf '%y %n %i %b\\n' | awk '${addUp}'`, 'sh', ...folders],
    reads: folders,
    onOutput: (line) => {
      found = line.split(' ').map(Number)
    },
    // Files that vanish meanwhile take nothing.
    onComplaint: () => undefined,
  })
  const [bytes, count] = found
  if (bytes === undefined || count === undefined) throw new Error(`The disk was not measured: ${code}`)
  return Math.max(bytes, count * leastFileBytes)
}
const leastFileBytes = 4096
// Not du: it aborts where a folder becomes a link while it is there, and what nobody can measure has no limit.
const addUp =
  '$1 == "d" || $2 == 1 || !seen[$3]++ { count++; blocks += $4 } END { printf "%.0f %.0f\\n", 512 * blocks, count }'

/**
 * Removes a folder and everything below it, however deep: Node's own way goes by whole paths, which the system limits
 * to 4096 bytes, and stops at folders without permissions.
 */
export const removeTree = async (path: string): Promise<void> => {
  if ((await exitCode('rm', '-rf', '--', path)) === 0) return
  await exitCode('chmod', '-R', 'u+rwx', '--', path)
  const code = await exitCode('rm', '-rf', '--', path)
  if (code !== 0) throw new Error(`${path} could not be removed (rm ended with ${code})`)
}

const exitCode = async (file: string, ...args: string[]): Promise<number | null> => {
  const [code] = (await once(spawnProcess(file, args, { stdio: 'ignore' }), 'exit')) as [number | null]
  return code
}

import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Isolation } from '#lib/service/engine/engine.ts'
import { signal as sendSignal } from '#lib/service/engine/processes.ts'
import { diskFull, ServiceError } from '#lib/service/kit/errors.ts'
import { spawnProcess } from '#lib/service/kit/spawn.ts'

interface Tool {
  argv: readonly string[]
  /** Folders the tool may access. With isolation it sees nothing else except system programs. */
  reads?: readonly string[]
  writes?: readonly string[]
  isolation: Isolation
  marks: Record<string, string>
  signal?: AbortSignal
  onOutput?: (line: string) => void
  onError: (line: string) => void
}

// Runs a system tool on folders that a devbox may be changing. The devbox could replace a folder with a symlink at any
// time, so the tool runs in its own root. Returns the exit code; on abort, rejects with the signal's reason after the
// tool has exited.
const run = async ({ argv, reads = [], writes = [], isolation, marks, signal, onOutput, onError }: Tool) => {
  signal?.throwIfAborted()
  const [file = '', ...args] = isolation === 'bubblewrap' ? confined(argv, reads, writes) : argv
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
  createInterface({ input: child.stderr }).on('line', onError)
  try {
    // Wait for `close`, when no process of the tool is left.
    const [code] = (await once(child, 'close')) as [number | null]
    signal?.throwIfAborted()
    return code
  } finally {
    signal?.removeEventListener('abort', kill)
  }
}

const bwrap = '/usr/bin/bwrap'
// Root of a user namespace can read and own whatever the devbox created.
const asRoot = process.getuid?.() === 0 ? [bwrap] : ['/usr/bin/unshare', '--user', '--map-root-user', '--', bwrap]

const confined = (argv: readonly string[], reads: readonly string[], writes: readonly string[]): string[] => [
  ...asRoot,
  ...['--unshare-pid', '--unshare-ipc', '--die-with-parent'],
  // libc needs /proc to change the mode of unreadable folders.
  ...['--proc', '/proc'],
  ...['/usr', '/bin', '/lib', '/lib64', '/etc/alternatives'].flatMap((path) => ['--ro-bind-try', path, path]),
  ...reads.flatMap((path) => ['--ro-bind', path, path]),
  ...writes.flatMap((path) => ['--bind', path, path]),
  ...['--', ...argv],
]

interface Copy {
  from: readonly string[]
  to: string
  isolation: Isolation
  marks: Record<string, string>
  signal?: AbortSignal
}

/**
 * Copies folders with modes, times, links, extended attributes and holes, sharing blocks where possible. Unspecified:
 * files being written are copied as they are; files that vanish are skipped. Throws a ServiceError if anything else
 * can't be copied.
 */
export const copyFolders = async ({ from, to, ...how }: Copy): Promise<void> => {
  const last = (line: string) => from.reduce((text, path) => text.replaceAll(path, path.split('/').at(-1) ?? ''), line)
  let problem: string | undefined
  const code = await run({
    ...how,
    argv: ['cp', '-a', '--reflink=auto', '--', ...from, to],
    reads: from,
    writes: [to],
    onError: (line) => {
      if (!isVanished(line)) problem ??= shortened(last(line.replaceAll(`${to}/`, '')).replace(/^cp: /, ''))
    },
  })
  if (problem === undefined && (code === 0 || code === 1)) return
  if (problem !== undefined && /: (No space left on device|Disk quota exceeded)$/.test(problem)) throw diskFull()
  throw new ServiceError('internal', `Could not copy the disk: ${problem ?? `cp exited with ${code}`}`, {
    shouldRetry: false,
  })
}

const shortened = (line: string) => (line.length > 400 ? `${line.slice(0, 200)}…${line.slice(-200)}` : line)

const isVanished = (line: string) =>
  /^cp: .*: (No such file or directory|Not a directory|Too many levels of symbolic links)$/.test(line) ||
  /^cp: (skipping file .* replaced while being copied|will not overwrite just-created )/.test(line)

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
    onError: (line) => {
      problem ??= line
    },
  })
  if (code !== 0) throw new Error(problem ?? `find exited with ${code}`)
  return bytes
}

/**
 * Disk usage of folders that a devbox may be changing; hard links count once. Unspecified: every entry counts at least
 * `minFileBytes`, because even empty files use up inodes.
 */
export const usageOf = async (
  folders: readonly string[],
  how: { isolation: Isolation; marks: Record<string, string>; signal?: AbortSignal },
): Promise<number> => {
  let found: number[] = []
  const code = await run({
    ...how,
    argv: ['sh', '-c', `find "$@" -xdev -printf '%y %n %i %b\\n' | awk '${sumUsage}'`, 'sh', ...folders],
    reads: folders,
    onOutput: (line) => {
      found = line.split(' ').map(Number)
    },
    onError: () => undefined,
  })
  const [bytes, count] = found
  if (bytes === undefined || count === undefined) throw new Error(`Could not measure the disk: ${code}`)
  return Math.max(bytes, count * minFileBytes)
}
const minFileBytes = 4096
// Not du: it aborts if a folder becomes a symlink, so a devbox could evade its limit.
const sumUsage =
  '$1 == "d" || $2 == 1 || !seen[$3]++ { count++; blocks += $4 } END { printf "%.0f %.0f\\n", 512 * blocks, count }'

/** Deletes a folder tree. Node's own removal fails on paths over 4096 bytes and on folders without permissions. */
export const removeTree = async (path: string): Promise<void> => {
  if ((await exitCode('rm', '-rf', '--', path)) === 0) return
  await exitCode('chmod', '-R', 'u+rwx', '--', path)
  const code = await exitCode('rm', '-rf', '--', path)
  if (code !== 0) throw new Error(`Could not delete ${path} (rm exited with ${code})`)
}

const exitCode = async (file: string, ...args: string[]): Promise<number | null> => {
  const [code] = (await once(spawnProcess(file, args, { stdio: 'ignore' }), 'exit')) as [number | null]
  return code
}

import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { diskFull, ServiceError } from '#lib/service/kit/errors.ts'
import { Slots } from '#lib/service/kit/slots.ts'
import { spawnProcess } from '#lib/service/kit/spawn.ts'
import { signal as sendSignal } from '../processes.ts'
import type { LocalIsolation } from './launch.ts'

interface Tool {
  argv: readonly string[]
  reads?: readonly string[]
  writes?: readonly string[]
  isolation: LocalIsolation
  marks: Record<string, string>
  signal?: AbortSignal
  onOutput?: (line: string) => void
  onError: (line: string) => void
}

// A devbox may replace a folder with a symlink at any time, so the tool runs in its own root.
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

interface Copy extends Pick<Tool, 'isolation' | 'marks' | 'signal'> {
  from: readonly string[]
  to: string
}

/** Unspecified: files being written are copied as they are; files that vanish are skipped. */
export const copyFolders = async ({ from, to, ...how }: Copy): Promise<void> => {
  const last = (line: string) => from.reduce((text, path) => text.replaceAll(path, path.split('/').at(-1) ?? ''), line)
  let problem: string | undefined
  const code = await run({
    ...how,
    argv: ['cp', '-a', '--reflink=auto', '--', ...from, to],
    reads: from,
    writes: [to],
    onError: (line) => {
      if (!isVanished(line)) problem ??= last(line.replaceAll(`${to}/`, '')).replace(/^cp: /, '')
    },
  })
  if (problem === undefined && (code === 0 || code === 1)) return
  if (problem !== undefined && /: (No space left on device|Disk quota exceeded)$/.test(problem)) throw diskFull()
  throw new ServiceError('internal', `Could not copy the disk: ${problem ?? `cp exited with ${code}`}`, {
    shouldRetry: false,
  })
}

const isVanished = (line: string) =>
  /^cp: .*: (No such file or directory|Not a directory|Too many levels of symbolic links)$/.test(line) ||
  /^cp: (skipping file .* replaced while being copied|will not overwrite just-created )/.test(line)

/** Hard links count once. Unspecified: every entry uses at least `minFileBytes`, since empty files use inodes. */
export const measure = async (
  folders: readonly string[],
  how: Pick<Tool, 'isolation' | 'marks' | 'signal'>,
): Promise<{ sizeBytes: number; usedBytes: number }> => {
  let found: number[] = []
  const code = await run({
    ...how,
    argv: ['sh', '-c', `find "$@" -xdev -printf '%y %n %i %s %b\\n' | awk '${sumUp}'`, 'sh', ...folders],
    reads: folders,
    onOutput: (line) => {
      found = line.split(' ').map(Number)
    },
    onError: () => undefined,
  })
  const [sizeBytes, blockBytes = 0, count = 0] = found
  if (sizeBytes === undefined) throw new Error(`Could not measure the disk: ${code}`)
  return { sizeBytes, usedBytes: Math.max(blockBytes, count * minFileBytes) }
}
const minFileBytes = 4096
// Not du: it aborts if a folder becomes a symlink, so a devbox could evade its limit.
const sumUp = `$1 == "d" || $2 == 1 || !seen[$3]++ {
  count++; used += 512 * $5
  if ($1 == "f") size += $4 < 512 * $5 ? $4 : 512 * $5
} END { printf "%.0f %.0f %.0f\\n", size, used, count }`

export interface Archive {
  file: string
  isCompressed: boolean
}

interface Unpack extends Archive, Pick<Tool, 'isolation' | 'marks'> {
  to: string
  maxBytes: number
}

/** Unspecified: maximum number of files in an archive. */
const maxEntries = 1_000_000
const unpacksAtOnce = new Slots(2)

/** Unpacks a tar archive into the folder `to`. GNU tar keeps members and links inside it, also without isolation. */
export const unpackArchive = async ({ file, isCompressed, to, maxBytes, ...how }: Unpack) => {
  const tooMany = new AbortController()
  let entries = 0
  let firstError: string | undefined
  const code = await unpacksAtOnce
    .run(tooMany.signal, () =>
      run({
        ...how,
        argv: [
          'bash',
          '-c',
          unpackScript,
          'bash',
          file,
          `${maxBytes}`,
          to,
          ...(isCompressed ? ['gzip', '-dc'] : ['cat']),
        ],
        reads: [file],
        writes: [to],
        signal: tooMany.signal,
        onOutput: () => {
          if (++entries > maxEntries) tooMany.abort()
        },
        onError: (line) => {
          firstError ||= line.replace(/^(tar|gzip): (stdin: )?/, '')
        },
      }),
    )
    .catch((error: unknown) => {
      if (!tooMany.signal.aborted) throw error
      return undefined
    })
  if (firstError?.endsWith('No space left on device')) throw diskFull()
  const { usedBytes } = await measure([to], how)
  return { usedBytes, problem: usedBytes > maxBytes ? tooLarge : problemOf(code, firstError) }
}

const tooLarge = "The archive is too large for the devbox's disk"
const problemOf = (code: number | null | undefined, firstError: string | undefined): string | undefined => {
  if (code === 0) return undefined
  if (code === undefined) return `The archive has more than ${maxEntries} files`
  if (code === unpackCodes.tooLarge) return tooLarge
  if (code === unpackCodes.special) return 'The archive has entries other than files, folders and links'
  return `The archive cannot be unpacked: ${firstError ?? `tar exited with ${code}`}`
}

const unpackCodes = { tooLarge: 3, special: 4 }
// The reader is killed by SIGPIPE (141) if it has more than tar may get.
const unpackScript = `
umask 022
"\${@:4}" <"$1" | head -c "$2" | tar -xv --no-same-owner --no-same-permissions -C "$3" -f -
status=("\${PIPESTATUS[@]}")
if [[ \${status[2]} != 0 ]]; then [[ \${status[0]} != 141 ]] || exit ${unpackCodes.tooLarge}; exit 1; fi
chmod -R u+rwX -- "$3" || exit 1
# Sparse files would grow when they are copied.
total=$(find "$3" -type f -printf '%s\\n' | awk '{ sum += $1 } END { printf "%.0f", sum }')
(( total <= $2 )) || exit ${unpackCodes.tooLarge}
[[ -z $(find "$3" ! -type f ! -type d ! -type l -print -quit) ]] || exit ${unpackCodes.special}`

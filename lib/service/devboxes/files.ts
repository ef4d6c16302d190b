import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ErrorCode } from '#lib/contract/errors.ts'
import { killLaunched, type RunningDevbox, type Sandbox, spawnIn } from '#lib/service/engine/engine.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'

/** Unspecified: how many files of one devbox may be open at once for callers outside. */
const maxOpen = 64
/** Files up to this size are read before their answer begins, so that a failure is an answer and not a cut. */
const headBytes = 64 * 1024

export interface FileContent {
  /** Undefined where the file system does not tell, as for most of /proc. */
  size: number | undefined
  bytes: AsyncIterable<Uint8Array>
  /** To be called when the bytes are not read. */
  close(): void
}

/**
 * Opens a file as the processes of the devbox see it: a process of the devbox reads it, so its mounts, links and rights
 * decide. Only regular files: a FIFO or a device may have no end. Throws 400, 403 or 404 with the path.
 */
export const readFile = async (devbox: RunningDevbox, path: string, signal: AbortSignal): Promise<FileContent> => {
  const command = start(devbox, readScript, [absolute(path, devbox.sandbox)], signal)
  try {
    const chunks = command.stdout.iterator() as AsyncIterator<Buffer>
    const { head, ended } = await readHead(chunks)
    const line = head.indexOf('\n')
    if (ended || line === -1) await command.succeed(path)
    const start = head.subarray(line + 1)
    const told = Number(head.toString('latin1', 0, line))
    // The kernel's own files have a size of 0 or of a page, whatever is in them.
    const size = ended ? start.length : told >= start.length ? told : undefined
    return { size, bytes: rest(command, path, start, chunks, size), close: command.end }
  } catch (error) {
    command.end()
    throw error
  }
}

/**
 * Writes a file as a process of the devbox would, with the folders above it; through a symbolic link into what it
 * points at. The new file replaces the old one in one step once `content` has ended; until then, and when `content`
 * throws, the old one stays as it is. Returns the number of bytes.
 */
export const writeFile = async (
  devbox: RunningDevbox,
  path: string,
  content: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<number> => {
  if (/(^|\/)\.{0,2}$/.test(path)) throw refusal(path, 'Is a directory')
  const command = start(devbox, writeScript, [absolute(path, devbox.sandbox), randomBytes(8).toString('hex')], signal)
  command.stdout.resume()
  let size = 0
  let contentError: unknown
  const counted = async function* () {
    try {
      for await (const chunk of content) {
        size += chunk.length
        yield chunk
      }
    } catch (error) {
      contentError = error
      throw error
    }
  }
  try {
    await pipeline(counted, command.stdin)
    command.verdict.end('commit\n')
  } catch (error) {
    // Without `commit` the script removes what it has written.
    command.verdict.end()
    await command.done
    if (contentError !== undefined || command.failed === undefined) throw error
  }
  await command.succeed(path)
  return size
}

const absolute = (path: string, { home }: Sandbox): string => {
  if (path === '~' || path.startsWith('~/')) return home + path.slice(1)
  return path.startsWith('/') ? path : `${home}/${path}`
}

// Opened first and checked then: what is at the path may change in between.
const readScript = `
if [[ -d $1 ]]; then echo "$1: Is a directory" >&2; exit 1; fi
if [[ -e $1 && ! -f $1 ]]; then echo "$1: Not a regular file" >&2; exit 1; fi
exec 3<"$1" || exit
if [[ ! -f /proc/self/fd/3 ]]; then echo "$1: Not a regular file" >&2; exit 1; fi
stat -L -c %s /proc/self/fd/3 && exec cat <&3`

const writeScript = `
fail() { echo "$target: $1" >&2; exit 1; }
target=$(realpath -m -- "$1" && echo /) || exit
target=\${target%??}
[[ -d $target ]] && fail 'Is a directory'
[[ -e $target && ! -f $target ]] && fail 'Not a regular file'
[[ -e $target && ! -w $target ]] && fail 'Permission denied'
mkdir -p -- "\${target%/*}/" || exit
beside=\${target%/*}/.devdeck-$2
trap 'rm -f -- "$beside"' EXIT
set -o noclobber
cat >"$beside" || exit
[[ ! -e $target ]] || chmod --reference="$target" -- "$beside"
read -r word <&3 && [[ $word = commit ]] || exit
mv -fT -- "$beside" "$target"`

interface Running {
  stdin: Writable
  stdout: Readable
  /** The script's third descriptor. */
  verdict: Writable
  /** Resolves when the script has ended. */
  done: Promise<unknown>
  /** Its last message if it failed; undefined while it runs and when it succeeded. */
  readonly failed: string | undefined
  /** Waits for its end and throws what went wrong. */
  succeed(path: string): Promise<void>
  /** Ends it, wherever it is. */
  end(): void
}

const open = new WeakMap<Sandbox, number>()

const start = (devbox: RunningDevbox, script: string, args: string[], signal?: AbortSignal): Running => {
  const { sandbox } = devbox
  const others = open.get(sandbox) ?? 0
  if (others >= maxOpen)
    throw new ServiceError('rate_limited', `${others} files of this devbox are being read or written already`, {
      retryAfterSeconds: 1,
    })
  // None of the devbox's own variables: they may change what bash and the tools do.
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' }
  const child = spawnIn(sandbox.launch({ argv: ['/bin/bash', '--norc', '-c', script, 'devdeck', ...args], env }), {
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  })
  open.set(sandbox, others + 1)
  const release = devbox.busy()
  const [stdin, stdout, stderr, verdict] = child.stdio as unknown as [Writable, Readable, Readable, Writable]
  // A script that has ended no longer reads; its exit status and its messages tell why.
  for (const stream of [stdin, stdout, verdict]) stream.on('error', () => undefined)
  let words = ''
  stderr.setEncoding('utf8').on('data', (chunk: string) => {
    words = (words + chunk).slice(-8192)
  })
  let failed: string | undefined
  const end = () => {
    for (const stream of [stdin, stdout, verdict]) stream.destroy()
    killLaunched(sandbox, child)
  }
  const done = once(child, 'close').then(
    ([code]) => {
      if (code !== 0) failed = words.trimEnd()
    },
    (error: Error) => {
      failed = error.message
    },
  )
  if (signal?.aborted) end()
  signal?.addEventListener('abort', end)
  void done.then(() => {
    signal?.removeEventListener('abort', end)
    open.set(sandbox, (open.get(sandbox) ?? 1) - 1)
    release()
  })
  return {
    stdin,
    stdout,
    verdict,
    done,
    end,
    get failed() {
      return failed
    },
    async succeed(path) {
      await done
      if (failed !== undefined) throw refusal(path, /: ([^:]+)$/.exec(failed)?.[1] ?? failed)
    },
  }
}

/** The line of the size and the first bytes of the file, up to `headBytes`. */
const readHead = async (chunks: AsyncIterator<Buffer>): Promise<{ head: Buffer; ended: boolean }> => {
  const read: Buffer[] = []
  for (let size = 0; size <= headBytes; ) {
    const next = await chunks.next()
    if (next.done) return { head: Buffer.concat(read), ended: true }
    read.push(next.value)
    size += next.value.length
  }
  return { head: Buffer.concat(read), ended: false }
}

async function* rest(
  command: Running,
  path: string,
  start: Buffer,
  chunks: AsyncIterator<Buffer>,
  size: number | undefined,
): AsyncGenerator<Uint8Array> {
  let left = size ?? Number.POSITIVE_INFINITY
  try {
    for (let chunk: Buffer | undefined = start; chunk; ) {
      // A file that grows while it is read, as a log does, is read as long as it was.
      yield left < chunk.length ? chunk.subarray(0, left) : chunk
      left -= chunk.length
      if (left <= 0) return
      const next: IteratorResult<Buffer> = await chunks.next()
      chunk = next.done ? undefined : next.value
    }
    await command.succeed(path)
    if (size !== undefined) throw refusal(path, 'The file became shorter while it was read')
  } finally {
    command.end()
  }
}

const codes: [RegExp, ErrorCode][] = [
  [/^No such file or directory$/, 'not_found'],
  [/^(Permission denied|Operation not permitted|Read-only file system)$/, 'forbidden'],
  [/^(No space left on device|Disk quota exceeded|File too large)$|File size limit exceeded/, 'insufficient_storage'],
  [
    /^(Is a directory|Not a directory|Not a regular file|File exists|File name too long|Too many levels of symbolic links|Invalid argument)$/,
    'invalid_argument',
  ],
]

const refusal = (path: string, reason: string): Error => {
  const code = codes.find(([pattern]) => pattern.test(reason))?.[1]
  if (!code) return new Error(`A file of a devbox could not be used: ${reason || 'the process was ended'}`)
  return new ServiceError(code, `${path}: ${reason}`, { shouldRetry: false })
}

import { randomBytes } from 'node:crypto'
import type { Writable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import type { ErrorCode } from '#lib/contract/errors.ts'
import type { Box, RunningDevbox } from '#lib/service/engine/box.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { logFailure } from '#lib/service/kit/log.ts'

/** Unspecified: parallel file transfers per devbox. */
const maxOpen = 64
/** Small files are read before responding, so failures become error responses. */
const headBytes = 64 * 1024

export interface FileContent {
  size: number | undefined
  bytes: AsyncIterable<Uint8Array>
  close(): void
}

/** From inside the devbox, so its links and permissions apply. Regular files only. Throws 400, 403 or 404. */
export const readFile = async (devbox: RunningDevbox, path: string, signal: AbortSignal): Promise<FileContent> => {
  const command = await start(devbox, { script: readScript, args: [absolute(path, devbox.box)], signal })
  try {
    const chunks = command.stdout.iterator() as AsyncIterator<Buffer>
    const { head, ended } = await readHead(chunks)
    const line = head.indexOf('\n')
    if (ended || line === -1) await command.succeed(path)
    const start = head.subarray(line + 1)
    const reported = Number(head.toString('latin1', 0, line))
    // Files in /proc and /sys report a size of 0 or one page.
    const size = ended ? start.length : reported >= start.length ? reported : undefined
    return { size, bytes: rest(command, path, start, chunks, size), close: command.end }
  } catch (error) {
    command.end()
    throw error
  }
}

/** Replaces the file atomically once `content` has ended. Returns the size. */
export const writeFile = async (
  devbox: RunningDevbox,
  path: string,
  content: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<number> => {
  if (/(^|\/)\.{0,2}$/.test(path)) throw fileError(path, 'Is a directory')
  const token = randomBytes(8).toString('hex')
  const args = [absolute(path, devbox.box), token]
  const command = await start(devbox, { script: writeScript, args, stdin: true, signal })
  command.stdout.resume()
  let size = 0
  let contentError: unknown
  const counted = async function* () {
    try {
      for await (const chunk of content) {
        size += chunk.length
        yield chunk
      }
      yield Buffer.from(token)
    } catch (error) {
      contentError = error
      throw error
    }
  }
  try {
    await pipeline(counted, command.stdin)
  } catch (error) {
    await command.done
    if (contentError !== undefined || command.failed === undefined) throw error
  }
  await command.succeed(path)
  return size
}

const absolute = (path: string, { home }: Box): string => {
  if (path === '~' || path.startsWith('~/')) return home + path.slice(1)
  return path.startsWith('/') ? path : `${home}/${path}`
}

// Open, then check: the path may change in between. A size of 0 is taken as unknown.
const readScript = `
if [ -d "$1" ]; then echo "$1: Is a directory" >&2; exit 1; fi
if [ -e "$1" ] && [ ! -f "$1" ]; then echo "$1: Not a regular file" >&2; exit 1; fi
exec <"$1" || exit
if [ ! -f /proc/self/fd/0 ]; then echo "$1: Not a regular file" >&2; exit 1; fi
stat -L -c %s /proc/self/fd/0 2>/dev/null || echo 0
exec cat`

// The content ends with the token; without it the upload was interrupted. POSIX only, since images may lack bash and
// GNU tools.
const writeScript = `
fail() { echo "$target: $1" >&2; exit 1; }
target=$(realpath -m "$1" 2>/dev/null && echo /) || {
  mkdir -p "\${1%/*}/" || exit
  target=$1//
  [ ! -L "$1" ] || target=$(readlink -f "$1" && echo /) || { target=$1; fail 'Too many levels of symbolic links'; }
}
target=\${target%??}
[ -d "$target" ] && fail 'Is a directory'
[ -e "$target" ] && [ ! -f "$target" ] && fail 'Not a regular file'
[ -e "$target" ] && [ ! -w "$target" ] && fail 'Permission denied'
mkdir -p "\${target%/*}/" || exit
partial=\${target%/*}/.devdeck-$2
trap 'rm -f "$partial"' EXIT
set -C
cat >"$partial" || exit
size=$(($(wc -c <"$partial") - 16))
[ "$(dd if="$partial" bs=1 skip="$size" 2>/dev/null)" = "$2" ] || exit
dd if=/dev/null of="$partial" bs=1 seek="$size" 2>/dev/null || exit
[ ! -e "$target" ] || chmod "$(stat -c %a "$target")" "$partial"
[ -d "$target" ] && fail 'Is a directory'
mv -f "$partial" "$target"`

type Running = Awaited<ReturnType<typeof start>>

const open = new WeakMap<Box, number>()

interface Command {
  script: string
  args: string[]
  stdin?: boolean
  signal: AbortSignal | undefined
}

const start = async (devbox: RunningDevbox, { script, args, stdin, signal }: Command) => {
  const { box } = devbox
  const openFiles = open.get(box) ?? 0
  if (openFiles >= maxOpen)
    throw new ServiceError(
      'rate_limited',
      `This devbox has reached its limit of ${openFiles} parallel file transfers`,
      { retryAfterSeconds: 1 },
    )
  open.set(box, openFiles + 1)
  const releaseDevbox = devbox.busy()
  const release = () => {
    open.set(box, (open.get(box) ?? 1) - 1)
    releaseDevbox()
  }
  // Without the devbox's variables, which could change how the shell and the tools behave.
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' }
  const argv = [box.shell, '-c', script, 'devdeck', ...args]
  const process = await box.start({ argv, env, ...(stdin && { stdin }) }).catch((error: unknown) => {
    release()
    throw error
  })
  const { stdin: input, stdout, stderr } = process
  for (const stream of [input, stdout, stderr]) stream?.on('error', () => undefined)
  let errorOutput = ''
  stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errorOutput = (errorOutput + chunk).slice(-8192)
  })
  let failed: string | undefined
  const end = () => {
    for (const stream of [input, stdout]) stream?.destroy()
    process.kill('SIGKILL', 'group').catch(logFailure('Could not stop a file transfer'))
  }
  const done = Promise.all([process.exited, finished(stderr).catch(() => undefined)]).then(([status]) => {
    if (status !== 0) failed = errorOutput.trimEnd()
  })
  if (signal?.aborted) end()
  signal?.addEventListener('abort', end)
  void done.then(() => {
    signal?.removeEventListener('abort', end)
    release()
  })
  return {
    stdin: input as Writable,
    stdout,
    done,
    end,
    get failed() {
      return failed
    },
    async succeed(path: string) {
      await done
      // dash and busybox shorten this reason.
      const reason = failed?.replace(/: no such file$/i, ': No such file or directory')
      if (reason !== undefined) throw fileError(path, /: ([^:]+)$/.exec(reason)?.[1] ?? reason)
    },
  }
}

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
      // A growing file, such as a log, is read up to its original size.
      yield left < chunk.length ? chunk.subarray(0, left) : chunk
      left -= chunk.length
      if (left <= 0) return
      const next: IteratorResult<Buffer> = await chunks.next()
      chunk = next.done ? undefined : next.value
    }
    await command.succeed(path)
    if (size !== undefined) throw fileError(path, 'The file shrank while it was being read')
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

const fileError = (path: string, reason: string): Error => {
  const code = codes.find(([pattern]) => pattern.test(reason))?.[1]
  if (!code) return new Error(`File access in a devbox failed: ${reason || 'the process was killed'}`)
  return new ServiceError(code, `${path}: ${reason}`, { shouldRetry: false })
}

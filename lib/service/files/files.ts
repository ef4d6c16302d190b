import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ErrorCode } from '#lib/contract/errors.ts'
import { killLaunched, type RunningDevbox, type Sandbox, spawnIn } from '#lib/service/engine/engine.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'

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
  const command = start(devbox, readScript, [absolute(path, devbox.sandbox)], signal)
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
    // Without `commit` the script deletes the partial file.
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

// Open, then check: the path may change in between.
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
partial=\${target%/*}/.devdeck-$2
trap 'rm -f -- "$partial"' EXIT
set -o noclobber
cat >"$partial" || exit
[[ ! -e $target ]] || chmod --reference="$target" -- "$partial"
read -r word <&3 && [[ $word = commit ]] || exit
mv -fT -- "$partial" "$target"`

type Running = ReturnType<typeof start>

const open = new WeakMap<Sandbox, number>()

const start = (devbox: RunningDevbox, script: string, args: string[], signal?: AbortSignal) => {
  const { sandbox } = devbox
  const openFiles = open.get(sandbox) ?? 0
  if (openFiles >= maxOpen)
    throw new ServiceError(
      'rate_limited',
      `This devbox has reached its limit of ${openFiles} parallel file transfers`,
      { retryAfterSeconds: 1 },
    )
  // Without the devbox's variables, which could change how bash and the tools behave.
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' }
  const child = spawnIn(sandbox.launch({ argv: ['/bin/bash', '--norc', '-c', script, 'devdeck', ...args], env }), {
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  })
  open.set(sandbox, openFiles + 1)
  const release = devbox.busy()
  const [stdin, stdout, stderr, verdict] = child.stdio as unknown as [Writable, Readable, Readable, Writable]
  for (const stream of [stdin, stdout, verdict]) stream.on('error', () => undefined)
  let errorOutput = ''
  stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errorOutput = (errorOutput + chunk).slice(-8192)
  })
  let failed: string | undefined
  const end = () => {
    for (const stream of [stdin, stdout, verdict]) stream.destroy()
    killLaunched(sandbox, child)
  }
  const done = once(child, 'close').then(
    ([code]) => {
      if (code !== 0) failed = errorOutput.trimEnd()
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
    async succeed(path: string) {
      await done
      if (failed !== undefined) throw fileError(path, /: ([^:]+)$/.exec(failed)?.[1] ?? failed)
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

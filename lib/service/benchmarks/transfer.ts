import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, stat } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import type { BoxProcess, Command, RunningDevbox } from '#lib/service/engine/box.ts'
import { readFile } from '#lib/service/files/files.ts'
import { logFailure } from '#lib/service/kit/log.ts'
import { spawnProcess } from '#lib/service/kit/spawn.ts'
import { tarFiles } from '#lib/service/kit/tar.ts'
import { filesBelow } from './log-files.ts'
import type { Scrubber } from './scrub.ts'

interface Target {
  devbox: RunningDevbox
  signal: AbortSignal
}

/** The user of a devbox may need to fix permissions before removing a folder. */
export const removalOf = (path: string): string =>
  `{ [ -L ${path} ] || chmod -R u+rwX -- ${path} 2>/dev/null; rm -rf -- ${path}; }`

/** Copies the contents of a folder into the devbox, or only the paths `only`. Keeps symbolic links, skips devices. */
export const sendFolder = async (
  { devbox, signal }: Target,
  from: string,
  to: string,
  { mode, only, replaces }: { mode?: string | null; only?: readonly string[] | undefined; replaces?: boolean } = {},
) => {
  const { archive } = devbox.box
  const removal = replaces ? `${removalOf('"$1"')} && ` : ''
  let packing: ReturnType<typeof pack> | undefined
  const content = () => {
    packing = pack(from, { mode, only, signal })
    return packing.stdout
  }
  if (archive) {
    await pipeInto({ devbox, signal }, noContent, `${removal}mkdir -p -- "$1"`, [to])
    await archive.write(to, content(), signal)
  } else {
    // An existing folder like /tmp keeps its mode and owner.
    const unpack = `mkdir -p -- "$1" && { case $(tar --version 2>&1) in *GNU*) set -- "$1" --no-overwrite-dir;; esac
exec tar -x -p -o -f - -C "$@"; }`
    await pipeInto({ devbox, signal }, content, removal + unpack, [to])
  }
  if (packing?.exitCode === null && packing.signalCode === null) await once(packing, 'exit')
  if (packing?.exitCode !== 0) throw new Error(`${from} could not be read`)
}

const noContent = () => Readable.from([])

const pack = (
  from: string,
  {
    mode,
    only,
    signal,
  }: { mode?: string | null | undefined; only?: readonly string[] | undefined; signal: AbortSignal },
) => {
  const what = only ? ['--no-recursion', '--verbatim-files-from', '--null', '-T', '-'] : ['.']
  const packing = spawnProcess(
    'tar',
    ['-c', '-C', from, ...(mode ? [`--mode=${mode}`] : []), ...ownedByRoot, '--hard-dereference', ...what],
    {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', NODE_ENV: 'production' },
      signal,
    },
  )
  packing.on('error', () => undefined)
  packing.stdin.on('error', () => undefined).end((only ?? []).map((name) => `./${name}\0`).join(''))
  return packing
}

const ownedByRoot = ['--numeric-owner', '--owner=0', '--group=0']

export const copyAcross = async (
  from: RunningDevbox,
  { devbox, signal }: Target,
  path: string,
  exclude: readonly string[],
): Promise<void> => {
  const [parent, name] = [posix.dirname(path), posix.basename(path)]
  const packed = exclude.length === 0 ? await from.box.archive?.read(path, signal) : undefined
  if (packed && devbox.box.archive) {
    await pipeInto({ devbox, signal }, noContent, 'mkdir -p -- "$1"', [parent])
    return devbox.box.archive.write(parent, packed, signal)
  }
  const argv = ['tar', '-c', ...exclude.map((each) => `--exclude=${each}`), '-C', parent, '--', name]
  await pipeFrom({ devbox: from, signal }, argv, (packed) =>
    pipeInto({ devbox, signal }, () => packed, unpackNamed, [parent, name]),
  )
}

const unpackNamed = 'mkdir -p -- "$1" && exec tar -x -p -o -f - -C "$1" -- "$2"'

const runIn = async <T>(
  { devbox: { box, busy }, signal }: Target,
  command: Pick<Command, 'argv' | 'stdin'>,
  use: (process: BoxProcess) => Promise<T>,
): Promise<T> => {
  const release = busy()
  try {
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' }
    const process = await box.start({ ...command, env, ...(box.archive && { user: 'root' }) })
    const end = () => {
      process.kill('SIGKILL', 'group').catch(logFailure('Could not stop a file transfer'))
    }
    for (const stream of [process.stdin, process.stdout, process.stderr]) stream?.on('error', () => undefined)
    if (signal.aborted) end()
    signal.addEventListener('abort', end, { once: true })
    try {
      return await use(process)
    } finally {
      end()
      for (const stream of [process.stdin, process.stdout, process.stderr]) stream?.destroy()
      signal.removeEventListener('abort', end)
    }
  } finally {
    release()
  }
}

const pipeFrom = <T>(target: Target, argv: readonly string[], read: (output: Readable) => Promise<T>): Promise<T> =>
  runIn(target, { argv }, ({ stdout, stderr }) => {
    stderr.resume()
    return read(stdout)
  })

export const packFolder = async (
  target: Target,
  { parent, name, archive, maxBytes }: { parent: string; name: string; archive: string; maxBytes: number },
): Promise<void> =>
  pipeFrom(target, ['tar', '-c', '-C', parent, '--', name], async (packed) => {
    let size = 0
    await pipeline(
      packed,
      async function* (chunks) {
        for await (const chunk of chunks) {
          size += (chunk as Buffer).length
          if (size > maxBytes) throw new Error(`${name} is larger than ${maxBytes} bytes`)
          yield chunk
        }
      },
      createWriteStream(archive, { mode: 0o600 }),
      { signal: target.signal },
    )
    if (size === 0) throw new Error(`${parent}/${name} could not be read`)
  })

export const unpackFolder = (target: Target, archive: string, parent: string, name: string): Promise<void> =>
  pipeInto(target, () => createReadStream(archive), unpackNamed, [parent, name])

export const readEndOf = (target: Target, path: string, maxBytes: number): Promise<string | undefined> =>
  pipeFrom(target, ['tail', '-c', String(maxBytes), '--', path], async (output) => {
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of output as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > 2 * maxBytes) break
      chunks.push(chunk)
    }
    return size === 0 ? undefined : Buffer.concat(chunks).toString('utf8')
  })

/** Copies a file into the devbox: into `to` if that is a folder, else as `to`. */
export const sendFile = async (
  target: Target,
  from: string,
  { to, name, isFolder, mode }: { to: string; name: string; isFolder: boolean; mode: string | null },
): Promise<void> => {
  const script = `to=$1
if [ "$3" = folder ] || [ -d "$to" ]; then to=\${to%/}/$2; fi
mkdir -p -- "$(dirname -- "$to")" && cat >"$to" && chmod -- "$4" "$to"`
  const fileMode = mode ?? (((await stat(from)).mode & 0o777) | 0o600).toString(8)
  return pipeInto(target, () => createReadStream(from), script, [to, name, isFolder ? 'folder' : 'file', fileMode])
}

/** Opens `content` once the devbox reads it: Node discards the unread output of a process that ends. */
const pipeInto = (target: Target, content: () => Readable, script: string, args: readonly string[]): Promise<void> =>
  runIn(
    target,
    { argv: [target.devbox.box.shell, '-c', script, 'devdeck', ...args], stdin: true },
    async ({ stdin, stdout, stderr, exited }) => {
      const { signal } = target
      stdout.resume()
      let errorOutput = ''
      stderr.setEncoding('utf8').on('data', (chunk: string) => {
        errorOutput = (errorOutput + chunk).slice(-4096)
      })
      // A script that stops reading has written its reason to stderr.
      const sent = pipeline(content(), stdin as Writable, { signal }).catch(() => undefined)
      const [status] = await Promise.all([exited, finished(stderr).catch(() => undefined)])
      await sent
      signal.throwIfAborted()
      if (status !== 0) throw new Error(errorOutput.trim() || `exit code ${status}`)
    },
  )

export const writeAsRoot = (target: Target, path: string, content: string): Promise<void> =>
  pipeInto(target, () => Readable.from([content]), 'cat >"$1"', [path])

export const readSmall = async (
  { devbox, signal }: Target,
  path: string,
  maxBytes: number,
): Promise<string | undefined> => {
  const { archive } = devbox.box
  if (archive) {
    const packed = await archive.read(path, signal)
    for await (const { sizeBytes, content } of packed ? tarFiles(packed) : []) {
      if (sizeBytes > maxBytes) throw new Error(`${path} is longer than ${maxBytes} bytes`)
      return Buffer.concat(await Array.fromAsync(content)).toString('utf8')
    }
    return undefined
  }
  const file = await readFile(devbox, path, signal).catch((error: { code?: string }) => {
    if (error.code === 'not_found') return undefined
    throw error
  })
  if (!file) return undefined
  try {
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of file.bytes) {
      size += chunk.length
      if (size > maxBytes) throw new Error(`${path} is longer than ${maxBytes} bytes`)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  } finally {
    file.close()
  }
}

export interface SavedFile {
  path: string[]
  sizeBytes: number
  content: AsyncIterable<Uint8Array>
}

/** Paths that leave the folder are skipped. */
export async function* filesIn({ devbox, signal }: Target, folder: string): AsyncGenerator<SavedFile> {
  const packed = await devbox.box.archive?.read(folder, signal)
  for await (const file of packed ? tarFiles(packed) : []) {
    // The first is the folder's own name.
    const path = file.path.split('/').slice(1)
    if (path.length > 0 && path.every((part) => !['', '.', '..'].includes(part))) yield { ...file, path }
  }
}

/** Unspecified: how many log files of a trial are kept, and how large. A log archive has the same limits. */
const maxSavedFiles = 10_000
const maxSavedBytes = 2 ** 30

/** Masks secrets and follows no links. Limited, because sparse files and hard links cost the devbox nothing. */
export const saveFiles = async (
  from: string | AsyncIterable<SavedFile>,
  to: string,
  {
    scrubber,
    signal,
    omit,
  }: { scrubber: Scrubber; signal?: AbortSignal; omit: (path: string, reason: string) => void },
): Promise<void> => {
  let files = 0
  let left = maxSavedBytes
  const found = typeof from === 'string' ? filesBelow(from, (parts, reason) => omit(parts.join('/'), reason)) : from
  for await (const { path, sizeBytes, content } of found) {
    signal?.throwIfAborted()
    if (files++ === maxSavedFiles) return omit('…', `more than ${maxSavedFiles} files`)
    if (sizeBytes > left) {
      omit(path.join('/'), `the logs would be larger than ${maxSavedBytes} bytes`)
      continue
    }
    left -= sizeBytes
    const target = join(to, ...path)
    try {
      await mkdir(dirname(target), { recursive: true, mode: 0o700 })
      const file = await open(target, 'wx', 0o600)
      try {
        for await (const chunk of scrubber.bytes(content)) {
          signal?.throwIfAborted()
          await file.writeFile(chunk)
        }
      } finally {
        await file.close()
      }
    } catch (error) {
      signal?.throwIfAborted()
      omit(path.join('/'), error instanceof Error ? error.message : String(error))
    }
  }
}

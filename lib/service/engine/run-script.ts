import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, constants, fchmodSync, openSync } from 'node:fs'
import { lchown, rm, writeFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { spawnProcess } from '#lib/service/kit/spawn.ts'
import { type RunningDevbox, spawnIn } from './engine.ts'
import { waitForExit } from './processes.ts'

export const streams = ['stdout', 'stderr'] as const
export type Stream = (typeof streams)[number]

interface Options {
  script: string
  attach(stream: Stream, reader: Socket): void
  connectStdin?: ((descriptor: number) => void) | undefined
  canceled?(): number | undefined
  spawned?(child: ChildProcess): void
  keepsOutputOpen?: boolean
}

/** Runs a bash script of any length. Resolves to its exit status once its own output is complete. */
export const runScript = async (
  { sandbox, env, runFolder }: Pick<RunningDevbox, 'sandbox' | 'env' | 'runFolder'>,
  { script, attach, connectStdin, canceled, spawned, keepsOutputOpen }: Options,
): Promise<number> => {
  const isLong = Buffer.byteLength(script) > maxArgumentBytes
  const file = isLong ? await putRunFile({ sandbox, runFolder }, 'script', script) : undefined
  const argv = ['/bin/bash', '-c', file === undefined ? script : `. '${sandbox.run}/${file}'`]
  const [stdout, stderr, stdin] = await openPipes(connectStdin ? ['read', 'read', 'write'] : ['read', 'read'])
  const theirs = [stdout, stderr, ...(stdin ? [stdin] : [])].map((pipe) => pipe.theirs)
  const closeTheirs = () => {
    for (const descriptor of theirs.splice(0)) closeSync(descriptor)
  }
  const readers = [stdout, stderr].map(({ ours }) => new Socket({ fd: ours, readable: true, writable: false }))
  for (const [i, reader] of readers.entries())
    attach(
      streams[i] as Stream,
      reader.on('error', () => undefined),
    )
  try {
    if (stdin) connectStdin?.(stdin.ours)
    const status = canceled?.()
    if (status !== undefined) return status
    const stdio = [stdin?.theirs ?? ('ignore' as const), stdout.theirs, stderr.theirs]
    const child = spawnIn(sandbox.launch({ argv, env }), { detached: true, stdio })
    spawned?.(child)
    closeTheirs()
    const exitStatus = await waitForExit(child)
    await drained(readers)
    return exitStatus
  } finally {
    closeTheirs()
    for (const reader of readers)
      if (keepsOutputOpen) reader.removeAllListeners('data').resume()
      else reader.destroy()
    if (file !== undefined) await rm(join(runFolder, file), { force: true })
  }
}

// Linux limits one argument to 128 KiB; longer scripts go through a file.
const maxArgumentBytes = 100_000

/** Returns the name of a new file. A random name, because the devbox could redirect the write through a symlink. */
export const putRunFile = async (
  { sandbox, runFolder }: Pick<RunningDevbox, 'sandbox' | 'runFolder'>,
  prefix: string,
  text: string,
): Promise<string> => {
  const name = `${prefix}-${randomBytes(8).toString('hex')}`
  const file = join(runFolder, name)
  await writeFile(file, text, { mode: 0o600, flag: 'wx' })
  if (sandbox.uid !== undefined) await lchown(file, sandbox.uid, sandbox.uid)
  return name
}

interface Pipe {
  ours: number
  theirs: number
}

/** Anonymous pipes with our ends non-blocking. Programs can't reopen the sockets that Node uses as /dev/stdout. */
const openPipes = async (ours: readonly ('read' | 'write')[]): Promise<[Pipe, Pipe, Pipe?]> => {
  const redirections = ours.map((_, i) => `${i + 3}<> <(:)`).join(' ')
  const maker = spawnProcess('/bin/bash', ['-c', `exec ${redirections} && echo made && read -r _`], {
    env: {} as NodeJS.ProcessEnv,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const ended = once(maker, 'close')
  const opened: number[] = []
  const open = (i: number, flags: number) => {
    const descriptor = openSync(`/proc/${maker.pid}/fd/${i + 3}`, flags)
    opened.push(descriptor)
    return descriptor
  }
  try {
    await Promise.race([once(maker.stdout, 'data'), ended])
    return ours.map((end, i) => {
      const [own, other] =
        end === 'read' ? [constants.O_RDONLY, constants.O_WRONLY] : [constants.O_WRONLY, constants.O_RDONLY]
      const pipe = { ours: open(i, own | constants.O_NONBLOCK), theirs: open(i, other) }
      fchmodSync(pipe.theirs, 0o666)
      return pipe
    }) as [Pipe, Pipe, Pipe?]
  } catch (error) {
    for (const descriptor of opened) closeSync(descriptor)
    throw error
  } finally {
    maker.stdin.end()
    await ended
  }
}

// Background processes may keep the pipes open; output this long after the command exits isn't its own.
const quietMs = 150
const maxDrainMs = 2000
// The command's remaining output comes first; a pipe holds at most 1 MiB.
const maxDrainBytes = 4 * 1024 * 1024

/** Waits until the pipes close or go quiet. A paused reader isn't quiet: its unread data may be the command's own. */
const drained = async (readers: readonly Socket[]): Promise<void> => {
  let bytes = 0
  let isClosed = false
  const closed = Promise.all(readers.map((reader) => reader.closed || once(reader, 'close'))).then(() => {
    isClosed = true
  })
  for (const reader of readers) reader.on('data', (chunk: Buffer) => (bytes += chunk.length))
  const giveUpAtMs = Date.now() + maxDrainMs
  for (let before = -1; !isClosed && bytes < maxDrainBytes; ) {
    if (!readers.some((reader) => reader.isPaused()) && (bytes === before || Date.now() > giveUpAtMs)) return
    before = bytes
    await Promise.race([closed, delay(quietMs, undefined, { ref: false })])
    // After a busy event loop, timers fire before pending reads.
    await nextTurn()
  }
}

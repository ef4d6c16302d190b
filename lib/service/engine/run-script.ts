import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { BoxProcess, Command, Held, RunningDevbox } from './box.ts'

export const streams = ['stdout', 'stderr'] as const
export type Stream = (typeof streams)[number]

interface Following {
  attach(stream: Stream, reader: Readable, held: Held | undefined): void
  /** Exit status of a command that was canceled before it started. */
  canceled?(): number | undefined
  started?(process: BoxProcess): void
  keepsOutputOpen?: boolean
}

interface Options extends Following, Pick<Command, 'cwd' | 'user' | 'stdin' | 'hold'> {
  script: string
}

/** Runs a shell script of any length. Resolves to its exit status once its own output is complete. */
export const runScript = async (
  { box, env }: Pick<RunningDevbox, 'box' | 'env'>,
  { script, cwd, user, stdin, hold, ...following }: Options,
): Promise<number> => {
  const isLong = Buffer.byteLength(script) > maxArgumentBytes
  const file = isLong ? await box.putRunFile('script', script) : undefined
  try {
    const argv = [box.shell, '-c', file === undefined ? script : `. '${file.path}'`]
    const before = following.canceled?.()
    if (before !== undefined) return before
    const how = { ...(cwd !== undefined && { cwd }), ...(user !== undefined && { user }), ...(stdin && { stdin }) }
    const process = await box.start({ ...how, ...(hold !== undefined && { hold }), argv, env })
    return await followProcess(process, following)
  } finally {
    await file?.remove()
  }
}

/** Resolves to the exit status of a process once its own output is complete. */
export const followProcess = async (
  process: BoxProcess,
  { attach, canceled, started, keepsOutputOpen }: Following,
): Promise<number> => {
  const readers = [process.stdout, process.stderr]
  for (const stream of streams) attach(stream, process[stream], process.held)
  try {
    started?.(process)
    const canceledStatus = canceled?.()
    if (canceledStatus !== undefined) await process.kill('SIGKILL', 'group')
    const exitStatus = await process.exited
    await drained(readers)
    return canceledStatus ?? exitStatus
  } finally {
    for (const reader of readers)
      if (keepsOutputOpen) reader.removeAllListeners('data').resume()
      else reader.destroy()
  }
}

// Linux limits one argument to 128 KiB; longer scripts go through a file.
const maxArgumentBytes = 100_000

// Background processes may keep the pipes open; output this long after the command exits isn't its own.
const quietMs = 150
const maxDrainMs = 2000
// The command's remaining output comes first; a pipe holds at most 1 MiB.
const maxDrainBytes = 4 * 1024 * 1024

/** Waits until the pipes close or go quiet. A paused reader isn't quiet: its unread data may be the command's own. */
const drained = async (readers: readonly Readable[]): Promise<void> => {
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

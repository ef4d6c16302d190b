import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Pipes } from './pipes.ts'

export const streams = ['stdout', 'stderr'] as const
export type Stream = (typeof streams)[number]

// A background process may hold the pipes for ever. Output that comes this long after the command's end is not its own.
const quietMs = 150
const maxDrainMs = 2000
// What the command left in its two pipes comes first, and a pipe holds at most 1 MiB.
const maxDrainBytes = 4 * 1024 * 1024

/** The two pipes that a command writes to, with a reader each. */
export class OutputPipes {
  readonly #readers: Socket[] = []
  #writeEnds: number[] = []

  /** `attach` is given each reader before anything comes out of it. */
  static async open(pipes: Pipes, attach: (stream: Stream, reader: Socket) => void): Promise<OutputPipes> {
    const output = new OutputPipes()
    try {
      for (const stream of streams) {
        const { read, write } = await pipes.forOutput()
        output.#writeEnds.push(write)
        const reader = new Socket({ fd: read, readable: true, writable: false })
        // A broken pipe has ended like any other.
        reader.on('error', () => undefined)
        output.#readers.push(reader)
        attach(stream, reader)
      }
      return output
    } catch (error) {
      output.closeWriteEnds()
      output.destroy()
      throw error
    }
  }

  /** For the command's standard output and error. */
  get writeEnds(): [number, number] {
    return this.#writeEnds as [number, number]
  }

  /** To be called once the command has them, or will never: the pipes end with the last process that holds them. */
  closeWriteEnds(): void {
    for (const fd of this.#writeEnds.splice(0)) closeSync(fd)
  }

  /** What processes in the background write later fails. */
  destroy(): void {
    for (const reader of this.#readers) reader.destroy()
  }

  /**
   * To be called at the end of the command: resolves when the pipes have ended, or when nothing has come for a while, or
   * at last when too much has. A reader that waits for the disk is not quiet: what it has yet to read may be the
   * command's own.
   */
  async drained(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    let isOver = false
    let drainedBytes = 0
    const endAfter = (ms: number, unlessMore: boolean) => {
      const timer: NodeJS.Timeout = setTimeout(() => {
        // A process that had to wait for its turn finds its timers due before it has looked at the pipes: it looks first.
        const bytesBefore = drainedBytes
        setImmediate(() => {
          if (isOver) return
          const hasMore = unlessMore && drainedBytes > bytesBefore
          if (hasMore || this.#readers.some((reader) => reader.isPaused())) timer.refresh()
          else resolve()
        })
      }, ms)
      return timer
    }
    const quiet = endAfter(quietMs, true)
    const last = endAfter(maxDrainMs, false)
    const onData = (chunk: Buffer) => {
      quiet.refresh()
      drainedBytes += chunk.length
      if (drainedBytes > maxDrainBytes) resolve()
    }
    for (const reader of this.#readers) reader.on('data', onData)
    const ended = this.#readers.map((reader) => reader.closed || new Promise((done) => reader.once('close', done)))
    await Promise.race([Promise.all(ended), promise])
    isOver = true
    clearTimeout(quiet)
    clearTimeout(last)
    for (const reader of this.#readers) reader.off('data', onData)
  }
}

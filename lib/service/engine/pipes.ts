import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, fchmodSync, openSync, unlinkSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { spawnProcess } from '#lib/service/kit/spawn.ts'

const batchSize = 64
const refillBelow = 24

export interface Pipe {
  read: number
  write: number
}

/**
 * Real pipes for commands: opening /dev/stdout by name fails on the sockets that Node uses. Node can't create pipes and
 * mkfifo is as slow as a short command, so they are created in batches ahead of time.
 */
export class Pipes {
  readonly #folder: string
  #names: string[] = []
  #made = 0
  #refilling: Promise<void> | undefined

  /** `folder` must be unreachable from devboxes. Leftover files are deleted. */
  constructor(folder: string) {
    this.#folder = folder
    this.#refilling = this.#clearWhenRefilled(rm(folder, { recursive: true, force: true }).then(() => this.#make()))
    this.#refilling.catch(() => undefined)
  }

  /** Our read end doesn't block; the command's write end does. */
  async forOutput(): Promise<Pipe> {
    const name = await this.#take()
    try {
      const read = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK)
      return { read, write: orClose(read, () => openSync(name, constants.O_WRONLY)) }
    } finally {
      unlinkSync(name)
    }
  }

  /** Our write end doesn't block; the command's read end does. */
  async forInput(): Promise<Pipe> {
    // Not a named pipe: reopening one as /dev/stdin after EOF would hang forever.
    const maker = spawnProcess('/bin/bash', ['-c', 'exec 3<> <(:) && echo made && read -r _'], {
      env: {} as NodeJS.ProcessEnv,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const ended = once(maker, 'close')
    try {
      await Promise.race([once(maker.stdout, 'data'), ended])
      const name = `/proc/${maker.pid}/fd/3`
      const write = openSync(name, constants.O_WRONLY | constants.O_NONBLOCK)
      // Lets a command running as another user reopen /dev/stdin.
      fchmodSync(write, 0o666)
      return { write, read: orClose(write, () => openSync(name, constants.O_RDONLY)) }
    } finally {
      maker.stdin.end()
      await ended
    }
  }

  async close(): Promise<void> {
    await this.#refilling?.catch(() => undefined)
    this.#names = []
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #take(): Promise<string> {
    for (;;) {
      const name = this.#names.pop()
      if (this.#names.length < refillBelow) {
        this.#refilling ??= this.#clearWhenRefilled(this.#make())
        if (name === undefined) await this.#refilling
        else this.#refilling.catch(() => undefined)
      }
      if (name !== undefined) return name
    }
  }

  #clearWhenRefilled(making: Promise<void>): Promise<void> {
    return making.finally(() => {
      this.#refilling = undefined
    })
  }

  async #make() {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const names = Array.from({ length: batchSize }, () => join(this.#folder, String(this.#made++)))
    await promisify(execFile)('mkfifo', ['-m', '666', ...names])
    this.#names.push(...names)
  }
}

const orClose = (descriptor: number, open: () => number): number => {
  try {
    return open()
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

export const streams = ['stdout', 'stderr'] as const
export type Stream = (typeof streams)[number]

// Background processes may keep the pipes open; output this long after the command exits isn't its own.
const quietMs = 150
const maxDrainMs = 2000
// The command's remaining output comes first; a pipe holds at most 1 MiB.
const maxDrainBytes = 4 * 1024 * 1024

export class OutputPipes {
  readonly #readers: Socket[] = []
  #writeEnds: number[] = []

  static async open(pipes: Pipes, attach: (stream: Stream, reader: Socket) => void): Promise<OutputPipes> {
    const output = new OutputPipes()
    try {
      for (const stream of streams) {
        const { read, write } = await pipes.forOutput()
        output.#writeEnds.push(write)
        const reader = new Socket({ fd: read, readable: true, writable: false })
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

  get writeEnds(): [number, number] {
    return this.#writeEnds as [number, number]
  }

  /** Call after the command has started or failed, so the pipes close with their last writer. */
  closeWriteEnds(): void {
    for (const fd of this.#writeEnds.splice(0)) closeSync(fd)
  }

  destroy(): void {
    for (const reader of this.#readers) reader.destroy()
  }

  // Waits after exit until the pipes close, go quiet, or reach the drain limit. A paused reader isn't quiet: its unread
  // data may be the command's own.
  async drained(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    let isDone = false
    let drainedBytes = 0
    const endAfter = (ms: number, unlessMore: boolean) => {
      const timer: NodeJS.Timeout = setTimeout(() => {
        // After a busy event loop, timers fire before pending reads; give the reads a turn.
        const bytesBefore = drainedBytes
        setImmediate(() => {
          if (isDone) return
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
    isDone = true
    clearTimeout(quiet)
    clearTimeout(last)
    for (const reader of this.#readers) reader.off('data', onData)
  }
}

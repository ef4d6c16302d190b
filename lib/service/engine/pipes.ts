import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, fchmodSync, openSync, unlinkSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { spawnProcess } from '#lib/service/kit/spawn.ts'

// A command takes two.
const batchSize = 64
const refillBelow = 24

/** A pipe's two ends, as open files of this process. */
export interface Pipe {
  read: number
  write: number
}

/**
 * Real pipes for commands. Node connects a child by sockets, and what opens /dev/stdout, /dev/stderr or /dev/stdin by
 * name fails on those. Node cannot make a pipe itself and mkfifo costs as much as the command, so it makes many at once,
 * ahead of time.
 */
export class Pipes {
  readonly #folder: string
  #names: string[] = []
  #made = 0
  #refilling: Promise<void> | undefined

  /** `folder` must be out of every devbox's reach. What an earlier process left in it is removed. */
  constructor(folder: string) {
    this.#folder = folder
    this.#refilling = this.#settled(rm(folder, { recursive: true, force: true }).then(() => this.#make()))
    // `#take` tries again and reports the failure.
    this.#refilling.catch(() => undefined)
  }

  /** For what a command writes: this process's end does not block, the command's does. */
  async forOutput(): Promise<Pipe> {
    const name = await this.#take()
    try {
      const read = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK)
      return { read, write: orClose(read, () => openSync(name, constants.O_WRONLY)) }
    } finally {
      // An open pipe needs no name, and without one nothing else can open it.
      unlinkSync(name)
    }
  }

  /** For what a command reads: this process's end does not block, the command's does. */
  async forInput(): Promise<Pipe> {
    // A named pipe will not do: a command that opens it as /dev/stdin after its input has ended waits for ever.
    const maker = spawnProcess('/bin/bash', ['-c', 'exec 3<> <(:) && echo made && read -r _'], {
      env: {} as NodeJS.ProcessEnv,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const ended = once(maker, 'close')
    try {
      await Promise.race([once(maker.stdout, 'data'), ended])
      const name = `/proc/${maker.pid}/fd/3`
      const write = openSync(name, constants.O_WRONLY | constants.O_NONBLOCK)
      // For a command that opens it again as /dev/stdin, and may be another user's.
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
        this.#refilling ??= this.#settled(this.#make())
        if (name === undefined) await this.#refilling
        else this.#refilling.catch(() => undefined)
      }
      if (name !== undefined) return name
    }
  }

  #settled(making: Promise<void>): Promise<void> {
    return making.finally(() => {
      this.#refilling = undefined
    })
  }

  async #make() {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const names = Array.from({ length: batchSize }, () => join(this.#folder, String(this.#made++)))
    // Any user: a command opens it again as /dev/stdout, in a devbox whose user is not the service's. No name leads there.
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

import type { ChildProcess } from 'node:child_process'
import { chownSync, closeSync, constants, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ReadStream } from 'node:tty'
import { requireBinary } from '@lydell/node-pty/requireBinary.js'
import { type Command, type Launch, type Sandbox, spawnIn } from '#lib/service/engine/engine.ts'

export interface Size {
  cols: number
  rows: number
}

interface Events {
  /** `bytes` is only valid during the call; the buffer is reused. */
  data(bytes: Uint8Array): void
  ended(exitCode: number, signal: NodeJS.Signals | undefined): void
}

// Only the native binding: the package's class also spawns the command and may lose the last output.
const native = requireBinary('pty.node')

// The kernel's maximum: after a full read Node reads again immediately.
const readBytes = 4095

// More than the kernel buffers after the shell has exited.
const maxLastBytes = 256 * 1024

export class PseudoTerminal {
  readonly fd: number
  readonly #sandbox: Sandbox
  readonly #stream: ReadStream
  readonly #child: ChildProcess
  #exited = false

  constructor(sandbox: Sandbox, command: Pick<Command, 'argv' | 'env'>, size: Size, events: Events) {
    const { master, slave, tty } = openTerminal(sandbox)
    try {
      native.resize(master, size.cols, size.rows)
      const launch = sandbox.launch({ ...command, tty })
      this.#child =
        slave === undefined
          ? spawnIn(unlocked(launch), { stdio: ['ignore', 'ignore', 'ignore', master], detached: true })
          : spawnIn(launch, { stdio: [slave, slave, slave], detached: true })
      this.#child.on('error', () => undefined)
    } catch (error) {
      closeSync(master)
      throw error
    } finally {
      // Otherwise the terminal would stay open after its last process.
      if (slave !== undefined) closeSync(slave)
    }
    this.#sandbox = sandbox
    this.fd = master
    const callback = (length: number, buffer: Uint8Array) => {
      events.data(buffer.subarray(0, length))
      return true
    }
    // A shared buffer; otherwise each 4 KiB read allocates 64 KiB.
    this.#stream = new ReadStream(master, { onread: { buffer: Buffer.allocUnsafe(readBytes), callback } })
    this.#stream.resume()
    // EIO after the last process has closed it; `close` follows.
    this.#stream.on('error', () => undefined)
    const closed = new Promise((resolve) => this.#stream.once('close', resolve))
    this.#child.once('exit', async (code, signal) => {
      this.#exited = true
      this.#readLast((bytes) => events.data(bytes))
      this.#stream.destroy()
      await closed
      events.ended(code ?? 0, signal ?? undefined)
    })
  }

  get isOpen(): boolean {
    return !this.#stream.destroyed
  }

  get leader(): number | undefined {
    return this.#exited ? undefined : this.#sandbox.leader(this.#child.pid ?? 0)
  }

  resize({ cols, rows }: Size): void {
    if (this.isOpen) native.resize(this.fd, cols, rows)
  }

  pause(): void {
    this.#stream.pause()
  }

  resume(): void {
    this.#stream.resume()
  }

  /** Reads the remaining output at exit. Bounded, because other processes may keep printing. */
  #readLast(take: (bytes: Buffer) => void) {
    const bytes = Buffer.allocUnsafe(readBytes)
    try {
      for (let length = 0; this.isOpen && length < maxLastBytes; ) {
        const read = readSync(this.fd, bytes)
        if (read === 0) return
        length += read
        take(bytes.subarray(0, read))
      }
    } catch {
      // EAGAIN or EIO: nothing left.
    }
  }
}

interface OpenTerminal {
  master: number
  slave?: number
  tty: string
}

const openTerminal = ({ ptmx, uid }: Sandbox): OpenTerminal => {
  if (ptmx === undefined) return { ...native.open(80, 24), tty: '/proc/self/fd/0' }
  // In the devbox's devpts, so it has a name there for programs such as tty, screen and gpg.
  const master = openSync(ptmx, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK)
  try {
    const index = /^tty-index:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${master}`, 'latin1'))?.[1] ?? ''
    if (uid !== undefined) chownSync(join(dirname(ptmx), index), uid, uid)
    return { master, tty: `/dev/pts/${index}` }
  } catch (error) {
    closeSync(master)
    throw error
  }
}

// A new slave must be unlocked (TIOCSPTLCK), which Node can't do. fd 3, because Node makes 0 to 2 blocking.
const unlock =
  'open($master, "+<&=", 3); $no = pack("i", 0); ioctl($master, 0x40045431, $no) or die; close($master); exec @ARGV'

const unlocked = (launch: Launch): Launch => ({
  ...launch,
  file: '/usr/bin/perl',
  args: ['-e', unlock, launch.file, ...launch.args],
})

const retryMs = 5

/** Writes input without blocking: a stream's `write` blocks the whole process while a program doesn't read. */
export class Keyboard {
  readonly #terminal: Pick<PseudoTerminal, 'fd' | 'isOpen'>
  #pending: Buffer[] = []
  #timer: NodeJS.Timeout | undefined
  #notify: { bytes: number; run: () => void } | undefined
  #stopped = false
  pendingBytes = 0

  constructor(terminal: Pick<PseudoTerminal, 'fd' | 'isOpen'>) {
    this.#terminal = terminal
  }

  type(bytes: Buffer) {
    if (this.#stopped) return
    this.#pending.push(bytes)
    this.pendingBytes += bytes.length
    if (!this.#timer) this.#write()
  }

  onceBelow(bytes: number, run: () => void) {
    this.#notify = { bytes, run }
  }

  stop() {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#pending = []
    this.#onWritten(this.pendingBytes)
  }

  #write() {
    this.#timer = undefined
    for (let [first] = this.#pending; first; [first] = this.#pending) {
      const written = this.#writeOnce(first)
      if (written === undefined) return this.stop()
      this.#onWritten(written)
      if (written === first.length) this.#pending.shift()
      else {
        this.#pending[0] = first.subarray(written)
        this.#timer = setTimeout(() => this.#write(), retryMs)
        return
      }
    }
  }

  #writeOnce(bytes: Buffer): number | undefined {
    if (!this.#terminal.isOpen) return undefined
    try {
      return writeSync(this.#terminal.fd, bytes)
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : undefined
    }
  }

  #onWritten(bytes: number) {
    this.pendingBytes -= bytes
    if (!this.#notify || this.pendingBytes > this.#notify.bytes) return
    const { run } = this.#notify
    this.#notify = undefined
    run()
  }
}

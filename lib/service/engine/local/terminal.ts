import type { ChildProcess } from 'node:child_process'
import { chownSync, closeSync, constants, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ReadStream } from 'node:tty'
import { requireBinary } from '@lydell/node-pty/requireBinary.js'
import { processStat, readProc } from '#lib/service/kit/proc.ts'
import type { BoxTerminal, Command, Size, TerminalEvents } from '../box.ts'
import { signal } from '../processes.ts'
import { type Launch, spawnIn } from './launch.ts'
import type { Launcher } from './process.ts'

// Only the native binding: the package's class also spawns the command and may lose the last output.
const native = requireBinary('pty.node')

// The kernel's maximum: after a full read Node reads again immediately.
const readBytes = 4095

// More than the kernel buffers after the shell has exited.
const maxLastBytes = 256 * 1024

type Means = Launcher & { ptmx?: string; uid?: number }

export class LocalTerminal implements BoxTerminal {
  readonly #master: number
  readonly #leader: Launcher['leader']
  readonly #keyboard: Keyboard
  readonly #stream: ReadStream
  readonly #child: ChildProcess
  #exited = false

  constructor(means: Means, command: Command, size: Size, events: TerminalEvents) {
    const { master, slave, tty } = openTerminal(means)
    try {
      native.resize(master, size.cols, size.rows)
      const launch = means.launch({ ...command, tty })
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
    this.#leader = means.leader
    this.#master = master
    this.#keyboard = new Keyboard(master, () => this.#isOpen)
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

  get #isOpen(): boolean {
    return !this.#stream.destroyed
  }

  get pendingBytes(): number {
    return this.#keyboard.pendingBytes
  }

  write(bytes: Buffer): void {
    this.#keyboard.type(bytes)
  }

  onceBelow(bytes: number, run: () => void): void {
    this.#keyboard.onceBelow(bytes, run)
  }

  stopInput(): void {
    this.#keyboard.stop()
  }

  async kill(name: NodeJS.Signals, target: 'foreground' | 'process'): Promise<boolean> {
    const leader = this.#exited ? undefined : this.#leader(this.#child.pid ?? 0)
    if (leader === undefined) return false
    if (target === 'process') return signal(leader, name)
    const group = processStat(leader)?.foregroundGroup ?? -1
    return group > 0 && signal(-group, name)
  }

  program(): string | undefined {
    const leader = this.#exited ? undefined : this.#leader(this.#child.pid ?? 0)
    const stat = leader === undefined ? undefined : processStat(leader)
    if (!stat || stat.foregroundGroup <= 0 || stat.foregroundGroup === stat.group) return undefined
    // The first program of a pipeline may have exited.
    return readProc(stat.foregroundGroup, 'comm')?.trim() || 'a program'
  }

  resize({ cols, rows }: Size): void {
    if (this.#isOpen) native.resize(this.#master, cols, rows)
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
      for (let length = 0; this.#isOpen && length < maxLastBytes; ) {
        const read = readSync(this.#master, bytes)
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

const openTerminal = ({ ptmx, uid }: Means): OpenTerminal => {
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
class Keyboard {
  readonly #master: number
  readonly #isOpen: () => boolean
  #pending: Buffer[] = []
  #timer: NodeJS.Timeout | undefined
  #notify: { bytes: number; run: () => void } | undefined
  #stopped = false
  pendingBytes = 0

  constructor(master: number, isOpen: () => boolean) {
    this.#master = master
    this.#isOpen = isOpen
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
    if (!this.#isOpen()) return undefined
    try {
      return writeSync(this.#master, bytes)
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

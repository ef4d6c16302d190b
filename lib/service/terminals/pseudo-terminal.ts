import type { ChildProcess } from 'node:child_process'
import { chownSync, closeSync, constants, existsSync, fchownSync, openSync, readFileSync, readSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ReadStream } from 'node:tty'
import { requireBinary } from '@lydell/node-pty/requireBinary.js'
import { type Command, type Launch, type Sandbox, spawnIn } from '#lib/service/engine/engine.ts'

export interface Size {
  cols: number
  rows: number
}

interface Events {
  /** The bytes are these until it returns: each read is into the same buffer. */
  data(bytes: Uint8Array): void
  /** The command has ended, and all it printed was told. */
  ended(exitCode: number, signal: NodeJS.Signals | undefined): void
}

// The package's class also starts the command, and loses what was printed last if nobody reads it within 200 ms.
const native = requireBinary('pty.node')

// What the kernel gives at once: a read that fills it is followed by another before anything else has its turn.
const readBytes = 4095

// More than the kernel holds of what a shell printed before its end.
const maxLastBytes = 256 * 1024

/** A command of a devbox in a pseudoterminal. */
export class PseudoTerminal {
  readonly fd: number
  readonly #sandbox: Sandbox
  readonly #stream: ReadStream
  readonly #child: ChildProcess
  #exited = false

  /** Throws when no terminal is to be had or nothing can be started. */
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
      // Open here, it would keep the terminal from ending with the last process in it.
      if (slave !== undefined) closeSync(slave)
    }
    this.#sandbox = sandbox
    this.fd = master
    const callback = (length: number, buffer: Uint8Array) => {
      events.data(buffer.subarray(0, length))
      return true
    }
    // One buffer for all reads: each would have one of 64 KiB of its own otherwise, for 4.
    this.#stream = new ReadStream(master, { onread: { buffer: Buffer.allocUnsafe(readBytes), callback } })
    this.#stream.resume()
    // EIO when the last process has closed it, and `close` follows.
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

  /** The host's process id of the command itself; undefined while it is being started and once it is gone. */
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

  /** What it had printed when it ended, to the last byte. Others may hold the terminal open and print for ever. */
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
      // EAGAIN or EIO: that was the last.
    }
  }
}

interface OpenTerminal {
  master: number
  /** Unlocked by the function that opened it. */
  slave?: number
  /** The slave's path for the command. */
  tty: string
}

const openTerminal = ({ ptmx, uid }: Sandbox): OpenTerminal => {
  const inside = ptmx !== undefined && unlock !== undefined ? openInside(ptmx, uid) : undefined
  if (inside) return inside
  const { master, slave } = native.open(80, 24)
  // The command opens it by name, as the user of its devbox.
  if (uid !== undefined) fchownSync(slave, uid, uid)
  return { master, slave, tty: '/proc/self/fd/0' }
}

/**
 * In the devbox's own devpts: there alone the terminal has a name in the devbox, which programs ask for (`tty`, screen,
 * gpg). Undefined when that gives none, as when one devbox has taken all that there are for devboxes.
 */
const openInside = (ptmx: string, uid: number | undefined): OpenTerminal | undefined => {
  let master: number | undefined
  try {
    master = openSync(ptmx, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK)
    const [, index] = /^tty-index:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${master}`, 'latin1')) ?? []
    if (index !== undefined) {
      if (uid !== undefined) chownSync(join(dirname(ptmx), index), uid, uid)
      return { master, tty: `/dev/pts/${index}` }
    }
  } catch {
    // The machine's own is left.
  }
  if (master !== undefined) closeSync(master)
  return undefined
}

// A new slave is locked until an ioctl on its master, and Node has none. TIOCSPTLCK has this number on x86 and ARM.
// The master is file 3: of the first three Node makes blocking ones, for itself as well.
const unlockers = [
  [
    '/usr/bin/perl',
    '-e',
    'open($master, "+<&=", 3); $no = pack("i", 0); ioctl($master, 0x40045431, $no) or die; close($master); exec @ARGV',
  ],
  [
    '/usr/bin/python3',
    ...['-I', '-S', '-c'],
    'import fcntl,os,sys;fcntl.ioctl(3,0x40045431,bytes(4));os.close(3);os.execv(sys.argv[1],sys.argv[1:])',
  ],
]
const unlock = unlockers.find(([file = '']) => existsSync(file))

const unlocked = (launch: Launch): Launch => {
  const [file = '', ...args] = unlock ?? []
  return { ...launch, file, args: [...args, launch.file, ...launch.args] }
}

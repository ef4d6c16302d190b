import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { isUnavailable } from '#lib/service/kit/errors.ts'
import type { Command, Size } from '../box.ts'
import { createExec, type ExecTarget, inspectExec } from './exec.ts'
import { FrameReader } from './exec-streams.ts'
import { perlPath } from './image-facts.ts'
import { holdPath } from './install.ts'

export interface HoldExit {
  status: number
  signal: number
  kills: number
}

/** What the holder reports at each connection. */
export interface HoldState {
  pid: string
  /** Input bytes since the start. */
  received: number
  size: Size
  /** Range of the output that this connection sends. */
  streams: readonly { from: number; to: number }[]
}

export interface HoldEvents {
  /** Called at every connection, before its output. */
  connected?(state: HoldState): void
  output(stream: number, bytes: Buffer): void
  streamEnded(stream: number): void
  /** Undefined if the holder has ended. */
  exited(exit: HoldExit | undefined): void
}

type Start = Command & { kind: 'command' | 'terminal'; options: readonly string[] }

// The types of frames, as in hold.pl.
const received = { stdout: 1, stderr: 2, state: 3, consumed: 4, exit: 5, streamEnd: 6 }
const sent = { input: 1, inputEnd: 2, stored: 3, size: 4, release: 5, attach: 6 }

// The holder doesn't read further frames while the program leaves this much input unread.
const maxUnreadInputBytes = 64 * 1024
const storedEveryBytes = 64 * 1024
const storedEveryMs = 20
const maxTextBytes = 256
const closeGraceMs = 1000
const retriesMs = [0, 100, 500, 2000, 5000]
/** Exit statuses if a shell or an engine can't run the holder. */
const notRunStatuses: readonly unknown[] = [126, 127]

/** The connection to a holder, re-established as long as the box lasts. */
export class Hold {
  readonly #target: ExecTarget
  readonly #id: string
  readonly #events: HoldEvents
  readonly #offsets: number[]
  readonly #stored: number[]
  #storedBytes = 0
  #storedTimer: NodeJS.Timeout | undefined
  #socket: Socket | undefined
  #isPaused = false
  #isOver = false
  #input: { bytes: Buffer; done: (() => void) | undefined }[] = []
  #queuedBytes = 0
  #sentBytes = 0
  #consumedBytes = 0
  #notify: { bytes: number; run: () => void } | undefined

  private constructor(target: ExecTarget, id: string, from: readonly number[], events: HoldEvents) {
    this.#target = target
    this.#id = id
    this.#offsets = [...from]
    this.#stored = [...from]
    this.#events = events
  }

  /** Starts a command under a holder. Undefined if there can't be one. Rejects if the command can't start. */
  static async start(target: ExecTarget, id: string, { kind, options, argv, ...command }: Start, events: HoldEvents) {
    const hold = new Hold(target, id, [0, 0], events)
    const run = { ...command, argv: [perlPath, holdPath, kind, id, ...options, ...argv], env: forPerl(command.env) }
    const { state, execId, problem } = await hold.#connect(run)
    if (state) return { hold, state }
    if (notRunStatuses.includes(await inspectExec(target.api, execId))) return undefined
    throw new Error(problem || 'The command could not be started')
  }

  /** Undefined if there is no such holder. */
  static async attach(target: ExecTarget, id: string, from: readonly number[], events: HoldEvents) {
    const hold = new Hold(target, id, from, events)
    const state = await hold.#attach()
    return state && { hold, state }
  }

  async #attach(): Promise<HoldState | undefined> {
    const argv = [perlPath, holdPath, 'attach', this.#id]
    const { state } = await this.#connect({ argv, env: {}, cwd: '/' }, frame(sent.attach, this.#offsets.join(' ')))
    return state
  }

  async #connect(command: Command, first?: Buffer) {
    const { id: execId, socket } = await createExec(this.#target, { ...command, stdin: true })
    const state = Promise.withResolvers<HoldState | undefined>()
    let problem = ''
    const frames = new FrameReader(
      joinText((type, bytes) => {
        if (type !== received.state) return this.#take(type, bytes)
        const found = readState(bytes)
        found.streams.forEach(({ from }, stream) => {
          this.#offsets[stream] = from
        })
        this.#sentBytes = this.#consumedBytes = found.received
        this.#socket = socket
        if (this.#isPaused) socket.pause()
        this.#events.connected?.(found)
        state.resolve(found)
        this.#sendInput()
      }),
    )
    const outer = new FrameReader((type, bytes) => {
      if (type === 1) frames.take(bytes)
      else problem = (problem + bytes.toString('utf8')).slice(-500)
    })
    socket.on('data', (chunk: Buffer) => outer.take(chunk))
    socket.once('close', () => {
      state.resolve(undefined)
      if (this.#socket !== socket) return
      this.#socket = undefined
      void this.#reconnect()
    })
    if (first) socket.write(first)
    return { state: await state.promise, execId, problem: problem.trim() }
  }

  async #reconnect() {
    const { signal } = this.#target
    for (let attempt = 0; !signal.aborted && !this.#isOver; attempt++) {
      try {
        await delay(retriesMs[attempt] ?? retriesMs.at(-1), undefined, { signal })
        if (await this.#attach()) return
        break
      } catch (error) {
        // While its engine can't be reached, the box may still run.
        if (!isUnavailable(error) && attempt >= retriesMs.length) break
      }
    }
    this.#end(undefined)
  }

  #take(type: number, bytes: Buffer) {
    if (type === received.stdout || type === received.stderr) {
      const stream = type - received.stdout
      this.#offsets[stream] = (this.#offsets[stream] ?? 0) + bytes.length
      this.#events.output(stream, bytes)
    } else if (type === received.streamEnd) this.#events.streamEnded(Number(bytes.toString()) - received.stdout)
    else if (type === received.consumed) {
      this.#consumedBytes = Number(bytes.toString())
      this.#sendInput()
    } else if (type === received.exit) {
      const [status = 0, signal = 0, kills = 0] = numbers(bytes)
      if (kills) this.#target.countKills(kills)
      this.#end({ status, signal, kills })
    }
  }

  #end(exit: HoldExit | undefined) {
    if (this.#isOver) return
    this.#isOver = true
    this.#events.exited(exit)
  }

  #send(type: number, content: Buffer | string = '') {
    this.#socket?.write(frame(type, content))
  }

  get pendingBytes(): number {
    return this.#queuedBytes + this.#sentBytes - this.#consumedBytes
  }

  /** `done` is called once the bytes have left the queue. */
  write(bytes: Buffer, done?: () => void): void {
    const own = Buffer.from(bytes)
    this.#queuedBytes += own.length
    for (let at = 0; at < own.length; at += maxUnreadInputBytes) {
      const end = at + maxUnreadInputBytes
      this.#input.push({ bytes: own.subarray(at, end), done: end >= own.length ? done : undefined })
    }
    this.#sendInput()
  }

  #sendInput() {
    while (this.#socket && this.#sentBytes - this.#consumedBytes < maxUnreadInputBytes) {
      const next = this.#input.shift()
      if (!next) break
      this.#send(sent.input, next.bytes)
      this.#sentBytes += next.bytes.length
      this.#queuedBytes -= next.bytes.length
      next.done?.()
    }
    if (!this.#notify || this.pendingBytes > this.#notify.bytes) return
    const { run } = this.#notify
    this.#notify = undefined
    run()
  }

  /** Calls `run` once at most `bytes` of input are pending. */
  onceBelow(bytes: number, run: () => void): void {
    this.#notify = { bytes, run }
    this.#sendInput()
  }

  endInput(): void {
    this.#send(sent.inputEnd)
  }

  discardInput(): void {
    this.#input = []
    this.#queuedBytes = 0
    this.#sendInput()
  }

  /** The output up to here doesn't have to be kept. */
  stored(stream: number, offset: number): void {
    this.#storedBytes += offset - (this.#stored[stream] ?? 0)
    this.#stored[stream] = offset
    if (this.#storedBytes >= storedEveryBytes) this.#reportStored()
    else this.#storedTimer ??= setTimeout(() => this.#reportStored(), storedEveryMs).unref()
  }

  #reportStored() {
    clearTimeout(this.#storedTimer)
    this.#storedTimer = undefined
    this.#storedBytes = 0
    this.#send(sent.stored, this.#stored.join(' '))
  }

  resize({ cols, rows }: Size): void {
    this.#send(sent.size, `${cols} ${rows}`)
  }

  pause(): void {
    this.#isPaused = true
    this.#socket?.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#socket?.resume()
  }

  /** Ends the holder, and what it still runs. */
  release(): void {
    this.#isOver = true
    clearTimeout(this.#storedTimer)
    const socket = this.#socket
    this.#socket = undefined
    if (!socket) return
    socket.end(frame(sent.release, ''))
    socket.resume()
    // Background processes may keep the exec open.
    setTimeout(() => socket.destroy(), closeGraceMs).unref()
  }
}

const frame = (type: number, content: Buffer | string): Buffer => {
  const bytes = Buffer.from(content)
  const head = Buffer.alloc(8)
  head[0] = type
  head.writeUInt32BE(bytes.length, 4)
  return Buffer.concat([head, bytes])
}

/** Output comes in pieces, other frames as a whole. */
const joinText = (onFrame: (type: number, bytes: Buffer) => void) => {
  let text = Buffer.alloc(0)
  return (type: number, bytes: Buffer, left: number) => {
    if (type === received.stdout || type === received.stderr) return onFrame(type, bytes)
    text = Buffer.concat([text, bytes]).subarray(0, maxTextBytes)
    if (left > 0) return
    const whole = text
    text = Buffer.alloc(0)
    onFrame(type, whole)
  }
}

const numbers = (bytes: Buffer) => bytes.toString('latin1').split(' ').map(Number)

const readState = (bytes: Buffer): HoldState => {
  const [pid = 0, received = 0, cols = 0, rows = 0, ...offsets] = numbers(bytes)
  const streams = [0, 1].map((i) => ({ from: offsets[2 * i] ?? 0, to: offsets[2 * i + 1] ?? 0 }))
  return { pid: String(pid), received, size: { cols, rows }, streams }
}

/** perl must not read the devbox's variables for it; the holder restores them. */
const forPerl = (env: Command['env']) =>
  Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name.startsWith('PERL') ? `DEVDECK_${name}` : name, value]),
  )

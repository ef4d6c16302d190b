import { constants } from 'node:os'
import { Writable } from 'node:stream'
import type { BoxProcess, BoxTerminal, Command, Size, TerminalEvents } from '../box.ts'
import { streams } from '../run-script.ts'
import { killTerminal } from './container-terminal.ts'
import { type ExecTarget, killInside, lostStatus } from './exec.ts'
import { pausingStreams } from './exec-streams.ts'
import { Hold, type HoldEvents, type HoldExit, type HoldState } from './hold.ts'

type Connected = { hold: Hold; state: HoldState } | undefined
type Connect = (events: HoldEvents) => Promise<Connected>

/** Starts a command that outlives this service. Undefined if the box can't have one. */
export const startHeldProcess = (target: ExecTarget, id: string, command: Command): Promise<BoxProcess | undefined> => {
  const options = [command.stdin ? 'stdin' : 'none']
  return heldProcess(target, (events) => Hold.start(target, id, { ...command, kind: 'command', options }, events))
}

export const attachProcess = (target: ExecTarget, id: string, from: readonly number[]) =>
  heldProcess(target, (events) => Hold.attach(target, id, from, events))

const heldProcess = async (target: ExecTarget, connect: Connect): Promise<BoxProcess | undefined> => {
  let hold: Hold | undefined
  let isDiscarding = false
  const source = {
    pause: () => !isDiscarding && hold?.pause(),
    resume: () => hold?.resume(),
    destroy() {
      isDiscarding = true
      hold?.resume()
    },
  }
  const { stdout, stderr, push } = pausingStreams(source)
  const readers = [stdout, stderr]
  const exit = Promise.withResolvers<number>()
  let hasExited = false
  const end = (stream: number) => {
    const reader = readers[stream]
    if (reader && !reader.destroyed) reader.push(null)
  }
  const connected = await connect({
    output: (stream, bytes) => push(stream === 0 ? stdout : stderr, bytes),
    streamEnded: end,
    exited(result) {
      hasExited = true
      if (!result) for (const stream of [0, 1]) end(stream)
      exit.resolve(statusOf(result))
    },
  })
  if (!connected) return undefined
  hold = connected.hold
  const { state } = connected
  const own = connected.hold
  const stdin = new Writable({
    write: (bytes: Buffer, _encoding, done) => own.write(bytes, done),
    final(done) {
      own.endInput()
      done()
    },
  })
  return {
    stdin,
    stdout,
    stderr,
    exited: exit.promise,
    kill: async (signal, kind) =>
      !hasExited && killInside(target, signal, kind === 'group' ? `-${state.pid}` : state.pid, undefined),
    held: {
      from: { stdout: state.streams[0]?.from ?? 0, stderr: state.streams[1]?.from ?? 0 },
      stored: (stream, offset) => own.stored(streams.indexOf(stream), offset),
      release: () => own.release(),
    },
  }
}

const statusOf = (exit: HoldExit | undefined) =>
  exit === undefined ? lostStatus : exit.signal > 0 ? 128 + exit.signal : exit.status

/** Opens a terminal that outlives this service. */
export const openHeldTerminal = (
  target: ExecTarget,
  id: string,
  command: Command,
  size: Size,
  events: TerminalEvents,
): HeldTerminal => {
  const options = [String(size.cols), String(size.rows)]
  return new HeldTerminal(target, events, (handlers) =>
    Hold.start(target, id, { ...command, kind: 'terminal', options }, handlers),
  )
}

/** Resolves once the output so far has arrived. Undefined if there is no such terminal. */
export const attachTerminal = async (
  target: ExecTarget,
  id: string,
  events: TerminalEvents,
): Promise<BoxTerminal | undefined> => {
  const terminal = new HeldTerminal(target, events, (handlers) => Hold.attach(target, id, [0, 0], handlers))
  const isThere = await terminal.connected
  if (isThere) await terminal.replayed
  return isThere ? terminal : undefined
}

const notStarted = 126

class HeldTerminal implements BoxTerminal {
  /** Resolves to false if the box can't hold it. */
  readonly connected: Promise<boolean>
  readonly replayed: Promise<void>
  readonly #target: ExecTarget
  readonly #events: TerminalEvents
  readonly #replayed = Promise.withResolvers<void>()
  #connection: Connected
  #early: ((hold: Hold) => void)[] = []
  #earlyBytes = 0
  #offset = 0
  #replayTo: number | undefined
  #stopsInput = false
  #hasEnded = false

  constructor(target: ExecTarget, events: TerminalEvents, connect: Connect) {
    this.#target = target
    this.#events = events
    this.replayed = this.#replayed.promise
    this.connected = connect({
      connected: (state) => this.#begin(state),
      output: (_stream, bytes) => this.#output(bytes),
      streamEnded: () => undefined,
      exited: (exit) => this.#exited(exit),
    }).then((connection) => {
      this.#connection = connection
      if (connection) for (const run of this.#early) run(connection.hold)
      if (this.#hasEnded) connection?.hold.release()
      return connection !== undefined
    })
    this.connected
      .catch(() => false)
      .then((isConnected) => {
        if (!isConnected) this.#end(notStarted, undefined)
      })
  }

  #begin({ streams: [output], size, received }: HoldState) {
    if (this.#replayTo !== undefined || !output) return
    this.#offset = output.from
    this.#replayTo = output.to
    this.#events.attached?.({ offset: output.from, size, inputBytes: received })
    this.#checkReplay()
  }

  #output(bytes: Buffer) {
    this.#offset += bytes.length
    this.#events.data(bytes)
    this.#checkReplay()
  }

  #checkReplay() {
    if (this.#offset >= (this.#replayTo ?? 0)) this.#replayed.resolve()
  }

  #exited(exit: HoldExit | undefined) {
    if (exit === undefined) this.#end(0, 'SIGKILL')
    else this.#end(exit.status, signalNames.get(exit.signal))
    this.#connection?.hold.release()
  }

  #end(status: number, signal: NodeJS.Signals | undefined) {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#replayed.resolve()
    this.#events.ended(status, signal)
  }

  #with(run: (hold: Hold) => void) {
    if (this.#connection) run(this.#connection.hold)
    else if (!this.#hasEnded) this.#early.push(run)
  }

  write(bytes: Buffer): void {
    if (this.#stopsInput || this.#hasEnded) return
    const own = Buffer.from(bytes)
    if (!this.#connection) this.#earlyBytes += own.length
    this.#with((hold) => hold.write(own))
  }

  get pendingBytes(): number {
    return this.#connection?.hold.pendingBytes ?? this.#earlyBytes
  }

  onceBelow(bytes: number, run: () => void): void {
    this.#with((hold) => hold.onceBelow(bytes, run))
  }

  resize(size: Size): void {
    this.#with((hold) => hold.resize(size))
  }

  pause(): void {
    this.#with((hold) => hold.pause())
  }

  resume(): void {
    this.#with((hold) => hold.resume())
  }

  async kill(signal: NodeJS.Signals, kind: 'foreground' | 'process'): Promise<boolean> {
    await this.connected.catch(() => false)
    if (!this.#connection || this.#hasEnded) return false
    return killTerminal(this.#target, signal, kind, this.#connection.state.pid)
  }

  stopInput(): void {
    this.#stopsInput = true
    this.#with((hold) => hold.discardInput())
  }
}

const signalNames = new Map(Object.entries(constants.signals).map(([name, n]) => [n, name as NodeJS.Signals]))

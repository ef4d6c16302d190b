import { setTimeout as delay } from 'node:timers/promises'
import type { RawData, WebSocket } from 'ws'
import { ApiError } from '#lib/client/client.ts'
import { type HeldTerminal, type TerminalNotice, terminalClose } from '#lib/contract/terminal-relay.ts'
import { type PtyControl, shellEndedCode } from '#lib/contract/terminals.ts'
import { trackStream } from '../registry.ts'
import type { Session as SignedIn } from '../session-cookie.ts'
import { OutputRing } from './output-ring.ts'
import { TerminalMirror } from './plain-mirror.ts'
import { closeSoon, watchForDeath } from './sockets.ts'
import { type Attached, attach, Ending, endingOf, isHeld, isUnavailable, type Size } from './upstream.ts'
import type { Viewer, ViewerRequest } from './viewer.ts'

const defaultScrollback = 1000
/** Of all output that is not parsed yet; the service holds the shell back when it is not read. */
const parseHighBytes = 1024 * 1024
const parseLowBytes = 256 * 1024
const maxSnapshotBytes = 768 * 1024
const maxEarlyBytes = 64 * 1024
const upstreamHighBytes = 512 * 1024
const upstreamLowBytes = 128 * 1024
const firstRetriesMs = [400, 800, 1600]
const maxRetryMs = 5_000
const maxHangUps = 3
const graceMs = 10 * 60_000
const roleKeptMs = 30_000
const roundTripEveryMs = 5_000
const replayWithinMs = 2_000
const closingMs = 10_000
/** A page is not kept waiting longer for the shell to take on its size. */
const sizeWaitMs = 1_000
/** What asked before that may have given up. */
const staleMs = 5_000
/** What a session closed by the `close` control ends with. */
const closedOnRequestCode = 1000
const abnormalCode = 1006
/** Ctrl-C, Ctrl-\ and Ctrl-Z: who types them wants to see what comes of it. */
const isInterrupt = (bytes: Buffer) =>
  bytes.length < 16 && bytes.some((byte) => byte === 3 || byte === 28 || byte === 26)

/** `resting`: nobody looks, and the shell is left to the service. */
type Phase = 'attaching' | 'live' | 'retrying' | 'resting'

interface Owner {
  signedIn: SignedIn
  devboxId: string
  name: string
  size: Size
}

/**
 * One shell of a devbox, for all pages that look at it: a connection to the service, a mirror of the screen, and the
 * viewers. Pages come and go; it stays for a while without any.
 */
export class TerminalSession {
  readonly accountId: string
  readonly devboxId: string
  readonly name: string
  readonly #openedMs = Date.now()
  readonly #forget: () => void
  readonly #gone = new AbortController()
  #signedIn: SignedIn
  #untrack: () => void
  #mirror: TerminalMirror
  readonly #ring = new OutputRing()
  /** Of the run of the shell that the ring's offsets count; empty before the first. */
  #epoch = ''
  #shellId: string | undefined
  /** While false the mirror's answers are thrown away: what asked is old output, answered long ago. */
  #answers = false

  readonly #viewers = new Set<Viewer>()
  #writer: Viewer | undefined
  #lastWriter: { client: string; leftMs: number } | undefined
  readonly #watched = new Set<string>()

  #phase: Phase = 'attaching'
  #phaseSinceMs = Date.now()
  /** What was replayed is in the mirror: pages may be shown it. */
  #isSettled = false
  #upstream: Attached | undefined
  #wake: (() => void) | undefined
  #idleTtlMs = 0
  #restTimer: NodeJS.Timeout | undefined
  #endsAtMs: number | null = null
  #upstreamMs: number | null = null
  #pingedAt: number | undefined

  #size: Size
  #wantedSize: Size
  /** What the service has been told; the mirror follows it. */
  #shellSize: Size
  #isResizing = false
  #resizing: Promise<void> = Promise.resolve()
  #needsNudge = false
  #sizeChanges = 0
  #early: Buffer[] = []
  #earlyBytes = 0
  #wanted = new Map<Viewer, number>()
  #snapshotsUnderWay = 0

  constructor({ signedIn, devboxId, name, size }: Owner, forget: () => void) {
    this.accountId = signedIn.account.id
    this.devboxId = devboxId
    this.name = name
    this.#size = this.#wantedSize = this.#shellSize = size
    this.#forget = forget
    this.#signedIn = signedIn
    this.#untrack = this.#track()
    this.#mirror = this.#newMirror()
    void this.#run()
  }

  get held(): HeldTerminal {
    return {
      name: this.name,
      title: this.#mirror.title,
      ...this.#size,
      opened_ms: this.#openedMs,
      viewers: [...this.#viewers].map(({ view }) => view),
      writer: this.#writer?.view ?? null,
      ends_at_ms: this.#endsAtMs,
      recording: null,
    }
  }

  get isWatched(): boolean {
    return this.#viewers.size > 0
  }

  get apiKey(): string {
    return this.#signedIn.api_key
  }

  /** Takes a page in. It is told where it stands as soon as the shell is there. */
  join(viewer: Viewer): void {
    if (this.#gone.signal.aborted) {
      viewer.close(terminalClose.upstreamLost, 'The terminal has just ended')
      return
    }
    const { client } = viewer.opening
    viewer.listen({
      input: (bytes) => this.#input(viewer, bytes),
      request: (request) => this.#request(viewer, request),
      behind: (scrollback) => this.#wantSnapshot(viewer, scrollback),
      upstreamMs: () => this.#upstreamMs,
      left: () => this.#left(viewer),
    })
    const before = [...this.#viewers].find(
      ({ opening, view }) =>
        client !== undefined && opening.client === client && view.follower === viewer.view.follower,
    )
    const wrote = before !== undefined && before === this.#writer
    if (before) {
      this.#remove(before)
      before.close(terminalClose.takenOver, 'Opened again by the same page')
    }
    this.#viewers.add(viewer)
    this.#mirror.scrollback = Math.max(
      ...[...this.#viewers].map(({ opening }) => opening.scrollback),
      defaultScrollback,
    )
    clearTimeout(this.#restTimer)
    this.#endsAtMs = null
    if (this.#mayWrite(viewer, wrote)) this.#setWriter(viewer)
    else if (client !== undefined) this.#watched.add(client)
    this.#log(`opened by ${viewer.view.name} as ${this.#roleOf(viewer)}, ${viewer.size.cols}x${viewer.size.rows}`)
    this.#wake?.()
    this.#tellPeople()
    void this.#welcome(viewer)
  }

  /** Ends the shell itself. */
  async close(): Promise<void> {
    await this.#control({ action: 'close' }, 'closed')
  }

  // Roles

  #mayWrite(viewer: Viewer, wrote: boolean): boolean {
    const { client, signedIn, wantsToWatch } = viewer.opening
    if (!signedIn || wantsToWatch || this.#writer) return false
    if (wrote || !this.#lastWriter || this.#lastWriter.client === client) return true
    // Whoever watched and comes back first, after all were cut off, does not take the place of who wrote.
    const isKept = Date.now() - this.#lastWriter.leftMs < roleKeptMs
    return !isKept || client === undefined || !this.#watched.has(client)
  }

  #setWriter(viewer: Viewer): void {
    this.#writer?.hold('upstream', false)
    this.#writer = viewer
    this.#lastWriter = undefined
    if (viewer.opening.client !== undefined) this.#watched.delete(viewer.opening.client)
    this.#resize(viewer.size)
  }

  #takeOver(viewer: Viewer): void {
    const before = this.#writer
    if (before === viewer) return
    this.#setWriter(viewer)
    if (before?.opening.client !== undefined) this.#watched.add(before.opening.client)
    before?.tell({ t: 'taken', by: viewer.view })
    this.#log(`taken over by ${viewer.view.name}`)
    this.#tellPeople()
  }

  #roleOf(viewer: Viewer): 'writer' | 'watcher' {
    return viewer === this.#writer ? 'writer' : 'watcher'
  }

  #tellPeople(to: Iterable<Viewer> = [...this.#viewers].filter(({ hasBegun }) => hasBegun)): void {
    const viewers = [...this.#viewers].map(({ view }) => view)
    for (const viewer of to)
      viewer.tell({
        t: 'people',
        you: viewer.view.id,
        role: this.#roleOf(viewer),
        writer: this.#writer?.view ?? null,
        viewers,
      })
  }

  #left(viewer: Viewer): void {
    if (!this.#viewers.has(viewer)) return
    const { client } = viewer.opening
    if (viewer === this.#writer && client !== undefined) this.#lastWriter = { client, leftMs: Date.now() }
    this.#remove(viewer)
    this.#log(`left by ${viewer.view.name}`)
    this.#tellPeople()
    if (this.#viewers.size === 0) this.#restAfter(graceMs)
  }

  #remove(viewer: Viewer): void {
    this.#viewers.delete(viewer)
    this.#wanted.delete(viewer)
    if (viewer === this.#writer) this.#writer = undefined
  }

  // What a page is shown

  /** Tells a page where it stands, with what it has missed or a snapshot. */
  async #welcome(viewer: Viewer, created = false): Promise<void> {
    if (!this.#isSettled) return
    // At the right size first: what a shell prints at another would have to be laid out twice.
    if (viewer === this.#writer && this.#phase === 'live') await Promise.race([this.#resized(), delay(sizeWaitMs)])
    if (!this.#isSettled || !this.#viewers.has(viewer)) return
    const { epoch, since } = viewer.opening
    const missed = since !== undefined && epoch === this.#epoch ? this.#ring.from(since) : undefined
    const from = missed ? ('since' as const) : ('snapshot' as const)
    viewer.begin(
      {
        t: 'ready',
        created,
        ...this.#size,
        epoch: this.#epoch,
        offset: missed && since !== undefined ? since : this.#ring.end,
        from,
        role: this.#roleOf(viewer),
      },
      missed,
    )
    this.#tellPeople([viewer])
    if (this.#phase === 'retrying') viewer.tell(this.#state())
  }

  #wantSnapshot(viewer: Viewer, scrollback: number): void {
    this.#wanted.set(viewer, scrollback)
    if (this.#snapshotsUnderWay === 0) this.#takeSnapshots()
  }

  #takeSnapshots(): void {
    const wanted = this.#wanted
    this.#wanted = new Map()
    const offset = this.#ring.end
    const sizeChanges = this.#sizeChanges
    for (const scrollback of new Set(wanted.values())) {
      const viewers = [...wanted].filter(([, each]) => each === scrollback).map(([viewer]) => viewer)
      this.#snapshotsUnderWay++
      this.#mirror.snapshot(scrollback, ({ text, cols, rows, marks }) => {
        this.#snapshotsUnderWay--
        const bytes = Buffer.from(text)
        if (sizeChanges !== this.#sizeChanges) for (const viewer of viewers) viewer.retry()
        else if (bytes.length > maxSnapshotBytes && scrollback > 0)
          for (const viewer of viewers)
            this.#wanted.set(viewer, Math.floor((scrollback * maxSnapshotBytes * 0.8) / bytes.length))
        else for (const viewer of viewers) viewer.show({ bytes, offset, cols, rows, marks }, this.#ring.from(offset))
        if (this.#wanted.size > 0 && this.#snapshotsUnderWay === 0) this.#takeSnapshots()
      })
    }
  }

  #newMirror(): TerminalMirror {
    return new TerminalMirror({
      ...this.#size,
      scrollback: defaultScrollback,
      answer: (bytes) => {
        if (this.#answers) this.#upstream?.socket.send(Buffer.from(bytes), { binary: true })
      },
    })
  }

  // What a page says

  #input(viewer: Viewer, bytes: Buffer): void {
    if (viewer !== this.#writer) return
    const socket = this.#upstream?.socket
    if (!socket) {
      // What is typed while the service is away must not run when it is back: nobody knows in what.
      if (this.#phase === 'retrying') return
      this.#early.push(bytes)
      this.#earlyBytes += bytes.length
      if (this.#earlyBytes > maxEarlyBytes) viewer.hold('upstream', true)
      return
    }
    socket.send(bytes, { binary: true }, () => {
      if (socket.bufferedAmount < upstreamLowBytes) this.#writer?.hold('upstream', false)
    })
    if (socket.bufferedAmount > upstreamHighBytes) viewer.hold('upstream', true)
    if (isInterrupt(bytes)) viewer.hurry()
  }

  #request(viewer: Viewer, request: ViewerRequest): void {
    if (request.t === 'takeover') this.#takeOver(viewer)
    else if (request.t === 'resize') {
      viewer.size = { cols: request.cols, rows: request.rows }
      if (viewer === this.#writer) this.#resize(viewer.size)
    } else if (viewer !== this.#writer)
      viewer.tell({ t: 'problem', code: 'conflict', message: 'Only who writes may do this; take over first' })
    else if (request.t === 'signal') void this.#control({ action: 'signal', signal: request.signal }, 'signalled')
    else if (request.t === 'close') void this.close()
    else if (request.t === 'record') viewer.tell({ t: 'recording', id: null, message: 'not available' })
    else viewer.tell({ t: 'follow', path: null })
  }

  async #control(request: PtyControl, done: string): Promise<boolean> {
    try {
      await this.#upstream?.control(request)
      return true
    } catch (error) {
      // A session that is gone already tells so by closing its socket.
      if (this.#gone.signal.aborted || (error instanceof ApiError && error.status === 404)) return false
      const { code, message } = endingOf(error)
      this.#writer?.tell({ t: 'problem', code, message: `The terminal could not be ${done}: ${message}` })
      return false
    }
  }

  // Size

  #resize(size: Size): void {
    this.#wantedSize = size
    void this.#resized()
  }

  /** Resolves when the shell has the size that is wanted, or will not get it. One call at a time, the last size wins. */
  #resized(): Promise<void> {
    if (!this.#isResizing) this.#resizing = this.#applySize()
    return this.#resizing
  }

  async #applySize(): Promise<void> {
    this.#isResizing = true
    for (
      let upstream = this.#upstream;
      upstream && (this.#needsNudge || !isSame(this.#wantedSize, this.#shellSize));
      upstream = this.#upstream
    ) {
      const size = this.#needsNudge ? { ...this.#size, rows: this.#size.rows - 1 } : this.#wantedSize
      const done = await this.#control({ action: 'resize', ...size }, 'resized')
      if (upstream !== this.#upstream) continue
      if (this.#needsNudge) this.#shellSize = size
      else if (done) this.#hasSize(size)
      // Another size may be taken; this one would be asked for again and again.
      else if (isSame(size, this.#wantedSize)) this.#wantedSize = this.#shellSize
      this.#needsNudge = false
    }
    this.#isResizing = false
  }

  #hasSize(size: Size): void {
    this.#shellSize = size
    if (isSame(size, this.#size)) return
    this.#size = size
    this.#sizeChanges++
    this.#mirror.resize(size.cols, size.rows)
    for (const viewer of this.#viewers) if (viewer !== this.#writer) viewer.tell({ t: 'size', ...size })
  }

  // The service's side

  async #run(): Promise<void> {
    try {
      for (let hangUps = 0, cuts = 0; ; ) {
        const attached = await this.#attach()
        const startedAt = this.#ring.end
        const { code, reason } = await this.#serve(attached)
        if (this.#gone.signal.aborted) return
        if (this.#phase === 'resting') {
          await this.#untilWoken()
          continue
        }
        const exit = exitOf(code, reason)
        if (exit) return this.#exited(exit)
        const moved = this.#ring.end > startedAt
        // Who is cut off may try as long as it gets somewhere. Who is sent away is not wanted.
        hangUps = code === abnormalCode ? hangUps : hangUps + 1
        cuts = moved ? 1 : cuts + 1
        if (hangUps > maxHangUps)
          throw new Ending(terminalClose.upstreamLost, 'unavailable', 'The service keeps dropping this terminal')
        this.#setPhase('retrying')
        await delay(Math.min(maxRetryMs, 25 * 2 ** Math.max(cuts, hangUps)), undefined, { signal: this.#gone.signal })
      }
    } catch (error) {
      if (this.#gone.signal.aborted) return
      if (!(error instanceof Ending)) console.error('A terminal failed:', error)
      this.#fail(
        error instanceof Ending
          ? error
          : new Ending(terminalClose.upstreamLost, 'internal', 'The console failed to keep this terminal open'),
      )
    }
  }

  async #attach(): Promise<Attached> {
    const hasShell = this.#epoch !== ''
    const triedAt = Date.now()
    const { signal } = this.#gone
    for (let tries = 0; ; tries++) {
      try {
        return await attach({
          apiKey: this.#signedIn.api_key,
          devboxId: this.devboxId,
          sessionName: `${this.devboxId}-${this.name}`,
          size: this.#wantedSize,
          after: this.#shellId === undefined ? undefined : this.#ring.end,
          signal,
        })
      } catch (error) {
        if (signal.aborted) throw error
        const mayWork = isUnavailable(error) || (hasShell && isHeld(error))
        const waitMs = hasShell ? Math.min(maxRetryMs, 100 * 2 ** tries) : firstRetriesMs[tries]
        if (!mayWork || waitMs === undefined || (hasShell && Date.now() - triedAt > this.#idleTtlMs))
          throw endingOf(error)
        if (hasShell) this.#setPhase('retrying')
        await delay(waitMs, undefined, { signal })
      }
    }
  }

  /** Resolves when the service's side is closed. */
  #serve(attached: Attached): Promise<{ code: number; reason: string }> {
    const { socket } = attached
    const { promise, resolve } = Promise.withResolvers<{ code: number; reason: string }>()
    const { stop } = watchForDeath(socket)
    const hangUp = () => closeSoon(socket)
    this.#gone.signal.addEventListener('abort', hangUp, { once: true })
    if (this.#gone.signal.aborted) hangUp()
    const roundTrips = setInterval(() => this.#measure(socket), roundTripEveryMs)
    socket.on('message', (data: RawData) => this.#output(socket, data as Buffer))
    socket.on('pong', (payload) => {
      if (String(payload) !== 'rtt' || this.#pingedAt === undefined) return
      this.#upstreamMs = Math.round((performance.now() - this.#pingedAt) * 10) / 10
      this.#pingedAt = undefined
    })
    socket.on('error', () => socket.terminate())
    socket.once('close', (code, reason) => {
      stop()
      clearInterval(roundTrips)
      this.#gone.signal.removeEventListener('abort', hangUp)
      this.#upstream = undefined
      this.#pingedAt = undefined
      resolve({ code, reason: String(reason) })
    })
    this.#take(attached)
    socket.resume()
    this.#measure(socket)
    return promise
  }

  #measure(socket: WebSocket): void {
    if (this.#pingedAt !== undefined || !this.isWatched || socket.readyState !== socket.OPEN) return
    this.#pingedAt = performance.now()
    socket.ping('rtt')
  }

  /** Finds out whether this is the shell we know, and where it stands. */
  #take(attached: Attached): void {
    const { socket, created, offset, shellId, size, idleTtlMs } = attached
    const isFirst = this.#epoch === ''
    const isOther = created || shellId !== this.#shellId
    const goesOn = !isFirst && !isOther && shellId !== undefined && offset === this.#ring.end
    this.#upstream = attached
    this.#idleTtlMs = idleTtlMs
    this.#shellId = shellId
    if (!goesOn) {
      this.#isSettled = false
      this.#epoch = shellId ?? crypto.randomUUID()
      this.#ring.restart(offset ?? 0)
      // What was typed for a shell that is gone must not run in the one that took its place.
      if (!isFirst) this.#early = []
      if (!isFirst && created) this.#mirror.write(newShellRule)
      else if (!isFirst) {
        this.#mirror.dispose()
        this.#mirror = this.#newMirror()
      }
    }
    this.#hasSize(size)
    this.#answers = created || (goesOn && Date.now() - this.#phaseSinceMs < staleMs)
    for (const bytes of this.#early) socket.send(bytes, { binary: true })
    this.#early = []
    this.#earlyBytes = 0
    this.#writer?.hold('upstream', false)
    this.#setPhase('live')
    if (goesOn || created) this.#settle(created)
    if (!this.#answers) this.#afterReplay(socket, () => this.#replayed(goesOn || offset === 0))
    void this.#resized()
  }

  /** What the service replays comes before its answer to a ping. */
  #afterReplay(socket: WebSocket, run: () => void): void {
    const done = () => {
      clearTimeout(timer)
      socket.off('pong', onPong)
      this.#mirror.write(new Uint8Array(), () => {
        if (this.#upstream?.socket === socket) run()
      })
    }
    const onPong = (payload: Buffer) => String(payload) === 'replayed' && done()
    const timer = setTimeout(done, replayWithinMs)
    socket.on('pong', onPong)
    socket.ping('replayed')
  }

  #replayed(isWhole: boolean): void {
    this.#answers = true
    this.#settle(false)
    if (isWhole || this.#size.rows < 2) return
    // What drew a full screen was not replayed: have the program draw it anew.
    this.#needsNudge = true
    void this.#resized()
  }

  #settle(created: boolean): void {
    if (this.#isSettled) return
    this.#isSettled = true
    for (const viewer of this.#viewers) void this.#welcome(viewer, created)
  }

  #output(socket: WebSocket, bytes: Buffer): void {
    for (const viewer of this.#viewers) viewer.output(bytes)
    this.#ring.add(bytes)
    this.#mirror.write(bytes, () => {
      if (socket.isPaused && this.#mirror.pendingBytes < parseLowBytes) socket.resume()
    })
    if (this.#mirror.pendingBytes > parseHighBytes) socket.pause()
  }

  // Its end

  #setPhase(phase: Phase): void {
    if (phase === this.#phase) return
    this.#phase = phase
    this.#phaseSinceMs = Date.now()
    for (const viewer of this.#viewers) if (viewer.hasBegun) viewer.tell(this.#state())
  }

  #state(): Extract<TerminalNotice, { t: 'state' }> {
    return this.#phase === 'retrying'
      ? {
          t: 'state',
          upstream: 'retrying',
          since_ms: this.#phaseSinceMs,
          message: 'The connection to the service is lost; trying again',
        }
      : { t: 'state', upstream: 'live', since_ms: this.#phaseSinceMs }
  }

  #restAfter(ms: number): void {
    clearTimeout(this.#restTimer)
    this.#endsAtMs = Date.now() + ms + this.#idleTtlMs
    this.#restTimer = setTimeout(() => this.#rest(), ms).unref()
  }

  /** Leaves the shell to the service, which keeps it for a while. */
  #rest(): void {
    const end = () => this.end(terminalClose.upstreamLost, 'Nobody looks at it')
    if (this.#upstream) {
      this.#setPhase('resting')
      closeSoon(this.#upstream.socket)
      this.#restTimer = setTimeout(end, this.#idleTtlMs).unref()
    } else end()
  }

  async #untilWoken(): Promise<void> {
    if (this.isWatched) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    await promise
    this.#wake = undefined
  }

  #exited(exit: { code: number | null; reason: string }): void {
    const tell = () => {
      for (const viewer of this.#viewers) viewer.tell({ t: 'exit', ...exit })
      this.end(terminalClose.shellEnded, exit.reason, closingMs)
    }
    this.#log('ended with its shell')
    // The last it printed is to be seen, by who has missed it too.
    if ([...this.#viewers].some(({ isBehind }) => isBehind))
      this.#mirror.snapshot(defaultScrollback, ({ text, ...snapshot }) => {
        for (const viewer of this.#viewers)
          viewer.showLast({ bytes: Buffer.from(text), offset: this.#ring.end, ...snapshot })
        tell()
      })
    else tell()
  }

  #fail({ closeCode, code, message }: Ending): void {
    for (const viewer of this.#viewers) viewer.tell({ t: 'problem', code, message })
    this.#log(`given up: ${code}`)
    this.end(closeCode, message)
  }

  /** Lets go of everything but the shell, which is the service's. */
  end(closeCode: number, reason: string, withinMs?: number): void {
    if (this.#gone.signal.aborted) return
    this.#gone.abort()
    clearTimeout(this.#restTimer)
    this.#untrack()
    this.#forget()
    this.#wake?.()
    for (const viewer of this.#viewers) viewer.close(closeCode, reason, withinMs)
    this.#viewers.clear()
    this.#mirror.dispose()
  }

  #track(): () => void {
    return trackStream(this.#signedIn.sid, (reason) => {
      const others = [...this.#viewers].flatMap(({ opening: { signedIn } }) => signedIn ?? [])
      const heir = reason === 'signed out' && others.find(({ sid }) => sid !== this.#signedIn.sid)
      if (heir) {
        this.#untrack()
        this.#signedIn = heir
        this.#untrack = this.#track()
      } else if (reason === 'signed out') this.end(terminalClose.signedOut, 'Signed out')
      else this.end(terminalClose.consoleRestarting, 'The console is restarting')
    })
  }

  #log(what: string): void {
    console.log(`Terminal ${this.devboxId}/${this.name} of ${this.accountId}: ${what}`)
  }
}

/** Out of whatever state the last program left, below what it had printed. */
const newShellRule = Buffer.from(
  '\x1b[?1049l\x1b[!p\x1b[0m\r\n\x1b[2m[The last shell is gone. This is a new one.]\x1b[0m\r\n',
)

const isSame = (a: Size, b: Size) => a.cols === b.cols && a.rows === b.rows

const exitOf = (code: number, reason: string): { code: number | null; reason: string } | undefined => {
  const status = /\bended with (\d{1,3})\b/.exec(reason)?.[1]
  if (code === shellEndedCode)
    return { code: status === undefined ? null : Number(status), reason: reason || 'The shell has ended' }
  if (code === closedOnRequestCode) return { code: null, reason: reason || 'The shell was closed' }
  return /\bkilled by signal\b/.test(reason) ? { code: null, reason } : undefined
}

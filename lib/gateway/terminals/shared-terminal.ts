import { setTimeout as delay } from 'node:timers/promises'
import { ApiError } from '#lib/client/api-error.ts'
import type { PtyControl } from '#lib/contract/terminals.ts'
import { type HeldTerminal, type TerminalNotice, terminalClose } from '#lib/protocol/terminals.ts'
import { trackStream } from '../accounts/open-streams.ts'
import type { Session } from '../accounts/types.ts'
import { logError, logInfo } from '../observability/log.ts'
import { registry } from '../registry/registry.ts'
import { clientFor } from '../upstream/client.ts'
import { serviceNow, toServiceTime } from '../upstream/clock.ts'
import { FollowLink, storedLinkOf } from './follow.ts'
import type { StoredFollowLink } from './follow-store.ts'
import { endShell } from './held.ts'
import { People } from './people.ts'
import { RecordingTap } from './recording-tap.ts'
import type { OpenTerminal } from './registry.ts'
import { sessionNameOf } from './session-name.ts'
import { type Exit, ShellLink } from './shell-link.ts'
import { ShellOutput } from './shell-output.ts'
import { type Size, SizeKeeper } from './size-keeper.ts'
import { TypedPositions } from './typed.ts'
import { type Attached, type Ending, endingOf } from './upstream.ts'
import type { Viewer, ViewerRequest } from './viewer.ts'

/** Above this backlog in the mirror, shell output is left unread, which makes the service pause the shell. */
const unparsedHighBytes = 1024 * 1024
const unparsedLowBytes = 256 * 1024
/** Time a slow page has to read the final output. */
const lastOutputMs = 10_000
const sizeWaitMs = 1_000
const closeWaitMs = 10_000
/** After an absence longer than this, programs may no longer expect answers to their queries. */
/** How long a new shell may print nothing before its prompt counts as lost. */
const blankMs = 1_000
const staleMs = 5_000
const nameTimeoutMs = 2_000

interface Opening {
  signedIn: Session
  devboxId: string
  name: string
  size: Size
}

/** One shell of a devbox, shared by all pages that show it. Survives its pages and connections for a while. */
export class SharedTerminal implements OpenTerminal {
  readonly devboxId: string
  readonly name: string
  readonly #openedMs = Date.now()
  readonly #forget: () => void
  readonly #people = new People()
  readonly #input = new TypedPositions((page, notice) => {
    for (const viewer of this.#people.all) if (pageOf(viewer) === page) viewer.notify(notice)
  })
  readonly #output: ShellOutput
  readonly #link: ShellLink
  readonly #size: SizeKeeper
  readonly #recording: RecordingTap
  #follow: FollowLink | undefined
  readonly #restoringFollow: Promise<void>
  #signedIn: Session
  #untrack: () => void
  /** The replay has been parsed, so pages may be shown the screen. */
  #isSettled = false
  /** False during a replay, whose queries were already answered. */
  #answers = false
  #ended = false
  #hasExited = false
  readonly #end = Promise.withResolvers<void>()
  #restTimer: NodeJS.Timeout | undefined
  #blankTimer: NodeJS.Timeout | undefined
  #endsAtMs: number | null = null

  constructor({ signedIn, devboxId, name, size }: Opening, forget: () => void) {
    this.devboxId = devboxId
    this.name = name
    this.#forget = forget
    this.#signedIn = signedIn
    this.#untrack = this.#track()
    this.#output = new ShellOutput(size, {
      account: signedIn.account.id,
      answer: (bytes) => {
        if (this.#answers && this.#link.phase === 'live') this.#link.send(Buffer.from(bytes))
      },
      failed: (error) => {
        logError(`Terminal ${devboxId}/${name} could not be mirrored`, error)
        this.#size.nudge()
      },
    })
    this.#size = new SizeKeeper(size, {
      control: (wanted) => this.#control({ action: 'resize', ...wanted }, 'resized'),
      changed: (changed) => this.#resized(changed),
    })
    this.#recording = new RecordingTap(this.#output, {
      account_id: signedIn.account.id,
      devbox_id: devboxId,
      name,
      devboxName: async () => {
        const { devboxes } = clientFor(this.#signedIn.api_key, nameTimeoutMs)
        return (await devboxes.get({ params: { id: devboxId } }).catch(() => undefined))?.name ?? undefined
      },
      changed: (notice) => this.#notifyAll(notice),
    })
    this.#link = new ShellLink(
      {
        devboxId,
        sessionName: sessionNameOf(devboxId, name),
        apiKey: () => this.#signedIn.api_key,
        size: () => this.#size.wanted,
        after: () => this.#output.after,
      },
      {
        attached: (attached) => this.#attached(attached),
        output: (bytes) => this.#printed(bytes),
        phase: () => this.#notifyPhase(),
        reached: (position) => this.#input.reached(position, this.#link.inputAt(position)),
        dropped: (from, to, mayHaveArrived) => this.#input.dropped(from, to, mayHaveArrived),
        drained: () => this.#people.writer?.hold('shell', false),
        exited: (exit) => this.#exited(exit),
        failed: (ending) => this.#failed(ending),
      },
    )
    void this.#link.run()
    this.#restoringFollow = this.#restoreFollow()
  }

  get held(): HeldTerminal {
    return {
      name: this.name,
      title: this.#output.title,
      ...this.#output.size,
      opened_ms: this.#openedMs,
      viewers: this.#people.all.map(({ view }) => view),
      writer: this.#people.writer?.view ?? null,
      ends_at_ms: this.#endsAtMs,
      recording: this.#recording.id,
    }
  }

  viewersOf(kind: 'followers' | 'signed in'): number {
    return this.#people.all.filter(({ view }) => view.follower === (kind === 'followers')).length
  }

  get accountId(): string {
    return this.#signedIn.account.id
  }

  get apiKey(): string {
    return this.#signedIn.api_key
  }

  join(viewer: Viewer): void {
    if (!viewer.isOpen) return
    if (this.#ended) {
      viewer.close(terminalClose.upstreamLost, 'The terminal has just ended')
      return
    }
    viewer.listen({
      input: (bytes) => this.#typed(viewer, bytes),
      request: (request) => this.#asked(viewer, request),
      behind: (scrollback) => this.#output.showTo(viewer, scrollback),
      upstreamMs: () => this.#link.roundTripMs,
      left: () => this.#left(viewer),
    })
    const before = this.#people.join(viewer)
    if (before) this.#output.forget(before)
    before?.close(terminalClose.takenOver, 'Reopened by the same page')
    const role = this.#people.roleOf(viewer)
    this.#log(`opened by ${viewer.view.name} as ${role}, ${viewer.size.cols}x${viewer.size.rows}`)
    clearTimeout(this.#restTimer)
    this.#endsAtMs = null
    this.#output.keep(viewer.opening.scrollback)
    if (role === 'writer') this.#size.want(viewer.size)
    this.#notifyViewers()
    this.#link.wake()
    void this.#sendReady(viewer)
  }

  /** Ends the shell and waits for its end. Returns false if the service could not be reached. */
  async close(): Promise<boolean> {
    const late = () => delay(closeWaitMs, undefined, { ref: false })
    clearTimeout(this.#restTimer)
    this.#link.wake()
    await Promise.race([this.#link.live(), late()])
    // The connection may end before the response arrives.
    const isClosed = (await this.#control({ action: 'close' }, 'closed')) || this.#hasExited
    if (isClosed) await Promise.race([this.#end.promise, late()])
    else if (this.#people.isEmpty) this.#restAfter(registry().config.terminalGraceMs)
    return isClosed
  }

  end(closeCode: number, reason: string, withinMs?: number): void {
    if (this.#ended) return
    this.#ended = true
    clearTimeout(this.#blankTimer)
    clearTimeout(this.#restTimer)
    this.#forget()
    this.#untrack()
    this.#link.end()
    this.#recording.end()
    for (const viewer of this.#people.all) {
      const linkEnds = viewer.view.follower && closeCode === terminalClose.signedOut
      if (linkEnds) viewer.close(terminalClose.linkEnded, 'The link has expired')
      else viewer.close(closeCode, reason, withinMs)
    }
    this.#people.clear()
    if (closeCode === terminalClose.consoleRestarting) this.#follow?.leave()
    else this.#follow?.end()
    this.#output.dispose()
    this.#end.resolve()
  }

  #typed(viewer: Viewer, bytes: Buffer): void {
    // Late bytes of a lost connection were already counted as lost when the page reconnected.
    if (!this.#people.has(viewer)) return
    if (viewer !== this.#people.writer) {
      this.#input.refused(pageOf(viewer), bytes.length)
      return
    }
    this.#input.typed(pageOf(viewer), bytes.length, () => this.#link.send(bytes))
    this.#link.dropWhileLost()
    if (this.#link.isFull) viewer.hold('shell', true)
    if (isInterrupt(bytes)) viewer.interrupted()
  }

  #asked(viewer: Viewer, request: ViewerRequest): void {
    if (request.t === 'takeover') this.#takeOver(viewer)
    else if (request.t === 'resize') {
      viewer.size = { cols: request.cols, rows: request.rows }
      if (viewer === this.#people.writer) this.#size.want(viewer.size)
    } else if (viewer !== this.#people.writer)
      viewer.notify({ t: 'problem', code: 'conflict', message: 'Take over the terminal first' })
    else if (request.t === 'signal') void this.#control({ action: 'signal', signal: request.signal }, 'signalled')
    else if (request.t === 'reset') this.#reset()
    else if (request.t === 'clear_scrollback') this.#clearScrollback()
    else if (request.t === 'close') this.#closeFor(viewer)
    else if (request.t === 'record') void this.#recording.turn(request.on)
    else void this.#turnFollow(viewer, request.on)
  }

  #closeFor({ opening: { signedIn: session, person, browser, address } }: Viewer): void {
    // `#control` reports failures to the page.
    if (session) void endShell(this, { session, person, browser, address }).catch(() => undefined)
  }

  #reset(): void {
    this.#output.reset()
    for (const viewer of this.#people.all) viewer.redraw()
    // Makes the prompt or running program redraw.
    this.#size.nudge()
  }

  #clearScrollback(): void {
    this.#output.clearScrollback()
    for (const viewer of this.#people.all) viewer.redraw()
  }

  #takeOver(viewer: Viewer): void {
    const before = this.#people.setWriter(viewer)
    if (before === viewer) return
    before?.hold('shell', false)
    before?.notify({ t: 'taken', by: viewer.view })
    this.#log(`taken over by ${viewer.view.name}`)
    this.#size.want(viewer.size)
    this.#notifyViewers()
  }

  async #turnFollow(viewer: Viewer, on: boolean): Promise<void> {
    await this.#restoringFollow
    const { signedIn } = viewer.opening
    if (this.#ended) return
    if (on && signedIn && !this.#follow) this.#follow = this.#newFollow(signedIn)
    if (!on) this.#follow?.end()
    viewer.notify(this.#followNotice())
  }

  /** Adopts the link of the console that held the terminal before. */
  async #restoreFollow(): Promise<void> {
    const stored = await storedLinkOf(this).catch((error: unknown) =>
      logError(`The link to follow ${this.devboxId}/${this.name} could not be read`, error),
    )
    if (!stored || this.#ended) return
    this.#follow = this.#newFollow(stored.session, stored)
    for (const viewer of this.#people.all)
      if (viewer.hasBegun && !viewer.view.follower) viewer.notify(this.#followNotice())
  }

  #newFollow(session: Session, stored?: StoredFollowLink): FollowLink {
    const ended = () => {
      this.#follow = undefined
      for (const each of this.#people.all)
        if (each.view.follower) each.close(terminalClose.linkEnded, 'The link has expired')
        else each.notify(this.#followNotice())
    }
    return new FollowLink(this, session, ended, stored)
  }

  #left(viewer: Viewer): void {
    if (!this.#people.has(viewer)) return
    this.#people.leave(viewer)
    this.#output.forget(viewer)
    this.#log(`left by ${viewer.view.name}, ${viewer.sentBytes} bytes shown and ${viewer.typedBytes} typed`)
    this.#notifyViewers()
    if (this.#people.isEmpty) this.#restAfter(registry().config.terminalGraceMs)
  }

  async #sendReady(viewer: Viewer, { created = false, isAnother = false } = {}): Promise<void> {
    if (!this.#isSettled) return
    // Resize first: a screen drawn for another size would be redrawn.
    if (viewer === this.#people.writer && this.#link.phase === 'live')
      await Promise.race([this.#size.settled(), delay(sizeWaitMs, undefined, { ref: false })])
    if (!this.#isSettled || !this.#people.has(viewer)) return
    const { epoch, since } = viewer.opening
    const isSameShell = !viewer.hasBegun && epoch === this.#output.epoch
    const missed = isSameShell && since !== undefined ? this.#output.from(since) : undefined
    const typed = viewer.hasBegun ? undefined : this.#input.receivedFrom(pageOf(viewer))
    const input = typed === undefined && !viewer.view.follower ? this.#link.inputAt() : undefined
    viewer.begin(
      {
        t: 'ready',
        created,
        ...(isAnother && { has_last_shell: true }),
        ...this.#output.size,
        epoch: this.#output.epoch,
        offset: missed && since !== undefined ? since : this.#output.end,
        from: missed ? 'since' : 'snapshot',
        role: this.#people.roleOf(viewer),
        ...(typed !== undefined && { typed }),
        ...(input && { input }),
      },
      missed,
    )
    if (typed !== undefined) this.#input.catchUp(pageOf(viewer))
    viewer.notify(this.#people.noticeFor(viewer))
    if (this.#link.phase === 'retrying') viewer.notify(this.#phaseNotice())
    if (this.#recording.id !== null) viewer.notify(this.#recording.notice)
    if (this.#follow && !viewer.view.follower) viewer.notify(this.#followNotice())
  }

  #notifyAll(notice: TerminalNotice): void {
    for (const viewer of this.#people.all) if (viewer.hasBegun) viewer.notify(notice)
  }

  #notifyViewers(): void {
    for (const viewer of this.#people.all) if (viewer.hasBegun) viewer.notify(this.#people.noticeFor(viewer))
  }

  #notifyPhase(): void {
    const { phase } = this.#link
    if (phase === 'live' || phase === 'retrying') this.#notifyAll(this.#phaseNotice())
  }

  #phaseNotice(): TerminalNotice {
    const { phase, phaseSinceMs } = this.#link
    const since_ms = toServiceTime(phaseSinceMs)
    return phase === 'retrying'
      ? { t: 'state', upstream: phase, since_ms, message: 'Connection to the service lost. Retrying…' }
      : { t: 'state', upstream: 'live', since_ms }
  }

  #followNotice(): TerminalNotice {
    if (!this.#follow) return { t: 'follow', path: null }
    return { t: 'follow', path: this.#follow.path, expires_at_ms: this.#follow.expiresAtMs }
  }

  #attached(attached: Attached): boolean {
    const { created, offset, size } = attached
    const awayMs = Date.now() - this.#link.phaseSinceMs
    const isAnother = created && this.#output.epoch !== ''
    const isContinued = this.#output.enter(attached)
    if (isAnother) this.#recording.mark('new shell')
    if (!isContinued) {
      this.#isSettled = false
      for (const viewer of this.#people.all) viewer.wait()
    }
    this.#size.found(size)
    this.#answers = created || (isContinued && awayMs < staleMs)
    if (isContinued || created) this.#settle({ created, isAnother })
    // The prompt may have been printed before this connection, and lost by the service. Resizing makes it redraw.
    if (created && offset === undefined) this.#blankTimer = setTimeout(() => this.#size.nudge(), blankMs)
    if (!this.#answers)
      this.#link.afterReplay(() => this.#output.onceParsed(() => this.#replayed(isContinued || offset === 0)))
    return isContinued
  }

  #replayed(isWhole: boolean): void {
    this.#answers = true
    this.#settle({})
    // The replay doesn't include what drew a full-screen program; resizing makes it redraw.
    if (!isWhole) this.#size.nudge()
  }

  #settle(shell: { created?: boolean; isAnother?: boolean }): void {
    if (this.#isSettled) return
    this.#isSettled = true
    for (const viewer of this.#people.all) void this.#sendReady(viewer, shell)
  }

  #printed(bytes: Buffer): void {
    clearTimeout(this.#blankTimer)
    for (const viewer of this.#people.all) viewer.output(bytes)
    this.#recording.output(bytes)
    this.#output.add(bytes, this.#parsed)
    if (this.#output.unparsedBytes > unparsedHighBytes) this.#link.isHeld = true
  }

  readonly #parsed = () => {
    if (this.#output.unparsedBytes < unparsedLowBytes) this.#link.isHeld = false
  }

  #resized(size: Size): void {
    this.#output.resize(size)
    this.#recording.resize(size)
    for (const viewer of this.#people.all)
      if (viewer !== this.#people.writer && viewer.hasBegun) viewer.notify({ t: 'size', ...size })
  }

  async #control(request: PtyControl, done: string): Promise<boolean> {
    try {
      if (await this.#link.control(request)) return true
      // The next connection sends the size again.
      if (request.action !== 'resize') this.#notifyFailure(done, 'unavailable', 'the service is unavailable')
    } catch (error) {
      // If the shell has ended, closing its socket reports that.
      const isGone = this.#ended || (error instanceof ApiError && error.status === 404)
      const { code, message } = endingOf(error)
      if (!isGone) this.#notifyFailure(done, code, message)
    }
    return false
  }

  #notifyFailure(done: string, code: string, message: string): void {
    this.#people.writer?.notify({ t: 'problem', code, message: `The terminal could not be ${done}: ${message}` })
  }

  #exited(exit: Exit): void {
    this.#hasExited = true
    this.#log(`its shell has ended: ${exit.reason}`)
    const behind = this.#people.all.filter(({ isBehind }) => isBehind)
    const closeViewers = () => {
      this.#notifyAll({ t: 'exit', ...exit })
      this.end(terminalClose.shellEnded, exit.reason, lastOutputMs)
    }
    if (behind.length > 0) this.#output.showLast(behind, closeViewers)
    else closeViewers()
  }

  /** Keeps the screen for returning pages, unless the devbox no longer exists or the session signed out. */
  #failed({ closeCode, code, message }: Ending): void {
    this.#log(`gave up: ${code}`)
    const isHopeless = closeCode === terminalClose.devboxNotFound || closeCode === terminalClose.signedOut
    for (const viewer of this.#people.all) viewer.notify({ t: 'problem', code, message })
    if (isHopeless || this.#output.epoch === '') this.end(closeCode, message)
    else {
      this.#isSettled = false
      for (const viewer of this.#people.all) {
        this.#people.leave(viewer)
        viewer.close(closeCode, message)
      }
      this.#restAfter(0)
    }
  }

  #restAfter(ms: number): void {
    clearTimeout(this.#restTimer)
    this.#endsAtMs = serviceNow() + ms + this.#link.idleTtlMs
    this.#restTimer = setTimeout(() => {
      this.#link.rest()
      const end = () => this.end(terminalClose.upstreamLost, 'Unused')
      this.#restTimer = setTimeout(end, this.#link.idleTtlMs).unref()
    }, ms).unref()
  }

  /** Uses the session that opened the terminal, and after its sign-out the session of another page. */
  #track(): () => void {
    return trackStream(this.#signedIn, {
      end: (reason) => {
        const others = this.#people.all.flatMap(({ opening: { signedIn } }) => signedIn ?? [])
        const next = reason === 'signed out' && others.find(({ sid }) => sid !== this.#signedIn.sid)
        if (next) {
          this.#untrack()
          this.#signedIn = next
          this.#untrack = this.#track()
        } else if (reason === 'signed out') this.end(terminalClose.signedOut, 'Signed out')
        else if (reason === 'restarting') this.end(terminalClose.consoleRestarting, 'The console is restarting')
      },
    })
  }

  /** Logs events and sizes, never input or output. */
  #log(what: string): void {
    logInfo(`Terminal ${this.devboxId}/${this.name} of ${this.accountId}: ${what}`)
  }
}

const pageOf = ({ opening: { client }, view }: Viewer): string =>
  client === undefined || view.follower ? `viewer ${view.id}` : `page ${client}`

/** Ctrl-C, Ctrl-\ or Ctrl-Z. Longer input is a paste. */
const isInterrupt = (bytes: Buffer) =>
  bytes.length < 16 && bytes.some((byte) => byte === 3 || byte === 26 || byte === 28)

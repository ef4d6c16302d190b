import { Agent, type Dispatcher } from 'undici'
import type { PtyTunnel } from '#lib/contract/devboxes.ts'
import { createWrongKeyLimit, type WrongKeyLimit } from '#lib/limits/wrong-key-limit.ts'
import type { HeldTerminal } from '#lib/protocol/terminals.ts'
import type { RevokedSessions } from '../accounts/revoked-sessions.ts'
import { type Session, sessionExpiryMs } from '../accounts/types.ts'
import type { ActivityStore } from '../activity/activity-store.ts'
import type { AlertBook } from '../alerts/alert-book.ts'
import type { AlertStore } from '../alerts/alert-store.ts'
import type { EvictionWatch } from '../alerts/eviction-listener.ts'
import type { Config } from '../config.ts'
import type { ArchiveCache } from '../logs/archive-cache.ts'
import type { Viewer } from '../terminals/viewer.ts'

/**
 * What the whole console process shares. Route handlers are bundled, so every module that `server.ts` loads exists a
 * second time inside the bundle: state at module level would be two states. This one object is therefore kept on
 * `globalThis`; `server.ts` creates it, and both sides reach it through `registry()`.
 */
export interface Registry {
  config: Config
  /** The origins this console is opened under, by the value of a Host header. */
  origins: Map<string, string>
  /** The port it really listens on. */
  port: number
  service: ServiceAddress
  /** How far its clock is ahead of this machine's. */
  serviceAheadMs: number
  /** The connections to the service, kept for the next call. */
  upstream: Dispatcher
  /** When each unused sign-in link expires. */
  signInLinks: Map<string, number>
  /** Opened with the first session. */
  revokedSessions: RevokedSessions | undefined
  /** What cookies hold that were unsealed within the last minute, by their value. */
  unsealedSessions: Map<string, { session: Session; untilMs: number }>
  /** Counts wrong keys, and links that lead nowhere, by client. */
  wrongKeys: WrongKeyLimit
  /** WebSockets of each session that arrived without their Upgrade. */
  strippedUpgrades: Map<string, number>
  /** The streams and terminals that each session holds open, so that they end with it, and when that is. */
  openStreams: Map<string, { endsMs: number; streams: Set<OpenStream> }>
  /** The timer that looks for sessions that are over. It runs from the first stream on. */
  lookingForEnds: NodeJS.Timeout | undefined
  /** Whether the console is ending, so that what is opened from now on ends at once. */
  isEnding: boolean
  /** How many calls, streams and pages each account has under way. */
  inFlight: Map<string, number>
  /** One per account, by a hash of its key. */
  evictionHubs: Map<string, EvictionWatch>
  /** What the console keeps of the alerts of an account, by its id. */
  alertBooks: Map<string, AlertBook>
  /** Opened with the first alert. */
  alertStore: AlertStore | undefined
  /** Opened with the first write. */
  activityStore: ActivityStore | undefined
  /** Archives of logs that pages look into; made with the first. */
  logArchives: ArchiveCache | undefined
  /** By account, devbox and name. */
  terminals: Map<string, OpenTerminal>
  /** The tokens that opened terminals lately, by a hash of the key and the devbox. */
  ptyTunnels: Map<string, { tunnel: PtyTunnel; untilMs: number }>
  /** The terminals that can be watched without signing in, by the hash of the link's token. */
  followLinks: Map<string, OpenTerminal>
  /** Recordings of terminals that are being written, by id. */
  liveRecordings: Set<string>
}

export interface ServiceAddress {
  embedded: boolean
  /** Without a slash at the end. Throws nothing: while the embedded service restarts, its address stays the same. */
  url(): string
  /** The key of the embedded service that a sign-in link stands for. */
  ownKey(): string | undefined
}

/** A terminal of a devbox that the console holds open for its pages. */
export interface OpenTerminal {
  readonly devboxId: string
  readonly accountId: string
  readonly apiKey: string
  readonly held: HeldTerminal
  viewersOf(kind: 'followers' | 'signed in'): number
  join(viewer: Viewer): void
  /** Ends the shell itself, and resolves once it has ended. False when the service could not be told. */
  close(): Promise<boolean>
  /** Ends everything but the shell, which belongs to the service. */
  end(closeCode: number, reason: string): void
}

export type TrackedSession = Pick<Session, 'sid' | 'created_at' | 'person'>
export type EndReason = 'signed out' | 'restarting'
/** Something that a session holds open. */
export interface OpenStream {
  end(reason: EndReason): void
}

const key = Symbol.for('devdeck.registry')
const holder = globalThis as { [key]?: Registry }

export const registry = (): Registry => {
  const found = holder[key]
  if (!found) throw new Error('The console has no registry: it is started by server.ts, not by next')
  return found
}

export const createRegistry = (
  parts: Pick<Registry, 'config' | 'port' | 'service'> & { origins: readonly string[] },
): Registry => {
  const created: Registry = {
    ...parts,
    serviceAheadMs: 0,
    upstream: new Agent(),
    origins: new Map(parts.origins.map((origin) => [new URL(origin).host, origin])),
    signInLinks: new Map(),
    revokedSessions: undefined,
    unsealedSessions: new Map(),
    wrongKeys: createWrongKeyLimit(),
    strippedUpgrades: new Map(),
    openStreams: new Map(),
    lookingForEnds: undefined,
    isEnding: false,
    inFlight: new Map(),
    evictionHubs: new Map(),
    alertBooks: new Map(),
    alertStore: undefined,
    activityStore: undefined,
    logArchives: undefined,
    terminals: new Map(),
    ptyTunnels: new Map(),
    followLinks: new Map(),
    liveRecordings: new Set(),
  }
  holder[key] = created
  return created
}

/**
 * Remembers how to end something a session holds open, and ends it with the session. Returns the call that forgets it.
 * What was asked for before the console was to end, and is opened after that, would keep it from ending.
 */
export const trackStream = (session: TrackedSession, stream: OpenStream): (() => void) => {
  const shared = registry()
  const { openStreams, isEnding } = shared
  const { sid } = session
  if (isEnding) queueMicrotask(() => stream.end('restarting'))
  // By the clock, as timers stand still while the machine sleeps.
  else shared.lookingForEnds ??= setInterval(endOver, endOverMs).unref()
  const held = openStreams.get(sid) ?? { endsMs: sessionExpiryMs(session), streams: new Set() }
  held.streams.add(stream)
  openStreams.set(sid, held)
  return () => {
    held.streams.delete(stream)
    if (held.streams.size === 0 && openStreams.get(sid) === held) openStreams.delete(sid)
  }
}

const endOverMs = 1_000
const endOver = () => {
  const { openStreams, revokedSessions } = registry()
  // Another console on the same data folder may have signed it out.
  for (const [sid, { endsMs }] of openStreams)
    if (endsMs <= Date.now() || revokedSessions?.find(sid)) endStreams('signed out', sid)
}

export const endStreams = (reason: EndReason, sid?: string): void => {
  const shared = registry()
  if (reason === 'restarting') {
    shared.isEnding = true
    clearInterval(shared.lookingForEnds)
  }
  const ending = sid === undefined ? [...shared.openStreams.values()] : [shared.openStreams.get(sid)]
  for (const held of ending) for (const stream of [...(held?.streams ?? [])]) stream.end(reason)
}

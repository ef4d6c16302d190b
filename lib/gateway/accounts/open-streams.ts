import { slot } from '../registry/registry.ts'
import { revokedSessions } from './revoked-sessions.ts'
import { type Session, sessionExpiryMs } from './types.ts'

export type TrackedSession = Pick<Session, 'sid' | 'created_at' | 'person'>
export type EndReason = 'signed out' | 'restarting'
/** A stream or terminal that a session holds open. */
export interface OpenStream {
  end(reason: EndReason): void
}

const expiryCheckMs = 1_000

export const openStreams = slot('openStreams', () => new Map<string, { endsMs: number; streams: Set<OpenStream> }>())

const state = slot('streamState', () => ({
  isStopping: false,
  expiryTimer: undefined as NodeJS.Timeout | undefined,
}))

/** Ends `stream` with its session; the returned function stops tracking it. While the console stops, it ends at once. */
export const trackStream = (session: TrackedSession, stream: OpenStream): (() => void) => {
  const { sid } = session
  const all = openStreams()
  if (state().isStopping) queueMicrotask(() => stream.end('restarting'))
  // Polls the clock: timers stand still while the machine sleeps.
  else state().expiryTimer ??= setInterval(endExpired, expiryCheckMs).unref()
  const held = all.get(sid) ?? { endsMs: sessionExpiryMs(session), streams: new Set() }
  held.streams.add(stream)
  all.set(sid, held)
  return () => {
    held.streams.delete(stream)
    if (held.streams.size === 0 && all.get(sid) === held) all.delete(sid)
  }
}

const endExpired = () => {
  // Another console on the same data folder may have signed the session out.
  for (const [sid, { endsMs }] of openStreams())
    if (endsMs <= Date.now() || revokedSessions().find(sid)) endStreams('signed out', sid)
}

/** Ends all streams, for pages to open them again. */
export const restartStreams = (): void => {
  for (const { streams } of [...openStreams().values()]) for (const stream of [...streams]) stream.end('restarting')
}

export const endStreams = (reason: EndReason, sid?: string): void => {
  if (reason === 'restarting') {
    state().isStopping = true
    clearInterval(state().expiryTimer)
  }
  const ending = sid === undefined ? [...openStreams().values()] : [openStreams().get(sid)]
  for (const held of ending) for (const stream of [...(held?.streams ?? [])]) stream.end(reason)
}

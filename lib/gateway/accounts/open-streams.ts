import type { Role } from '#lib/protocol/roles.ts'
import { type RoleHolder, roleOf } from '../people/roles.ts'
import { slot } from '../registry/registry.ts'
import { revokedSessions } from './revoked-sessions.ts'
import { type Session, sessionExpiryMs } from './types.ts'

export type TrackedSession = Pick<Session, 'sid' | 'created_at'> & RoleHolder
/** After a role change, pages reconnect with the new role. */
export type EndReason = 'signed out' | 'restarting' | 'role changed'
/** A stream or terminal that a session holds open. */
export interface OpenStream {
  end(reason: EndReason): void
}

interface HeldStreams {
  endsMs: number
  session: TrackedSession
  role: Role | null
  streams: Set<OpenStream>
}

const expiryCheckMs = 1_000

export const openStreams = slot('openStreams', () => new Map<string, HeldStreams>())

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
  const held = all.get(sid) ?? {
    endsMs: sessionExpiryMs(session),
    session,
    role: roleOf(session),
    streams: new Set(),
  }
  held.streams.add(stream)
  all.set(sid, held)
  return () => {
    held.streams.delete(stream)
    if (held.streams.size === 0 && all.get(sid) === held) all.delete(sid)
  }
}

const endExpired = () => {
  // Another console on the same data folder may have signed the session out.
  for (const [sid, { endsMs, session, role }] of openStreams()) {
    const now = roleOf(session)
    if (endsMs <= Date.now() || now === null || revokedSessions().find(sid)) endStreams('signed out', sid)
    else if (now !== role) endStreams('role changed', sid)
  }
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
  for (const held of ending) {
    if (held && reason === 'role changed') held.role = roleOf(held.session)
    for (const stream of [...(held?.streams ?? [])]) stream.end(reason)
  }
}

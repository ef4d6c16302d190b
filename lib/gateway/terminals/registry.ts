import type { PtyTunnel } from '#lib/contract/devboxes.ts'
import { type HeldTerminal, terminalClose } from '#lib/protocol/terminals.ts'
import { slot } from '../registry/registry.ts'
import type { Viewer } from './viewer.ts'

/** A devbox terminal that the console holds open for its pages. */
export interface OpenTerminal {
  readonly devboxId: string
  readonly accountId: string
  readonly apiKey: string
  readonly held: HeldTerminal
  viewersOf(kind: 'followers' | 'signed in'): number
  join(viewer: Viewer): void
  /** Ends the shell and resolves once it has ended; false when the service could not be reached. */
  close(): Promise<boolean>
  /** Ends everything but the shell, which belongs to the service. */
  end(closeCode: number, reason: string): void
}

export const terminals = slot('terminals', () => new Map<string, OpenTerminal>())

/** Ends all terminals here, for their pages to open them on another console. */
export const endTerminals = (reason: string): void => {
  for (const terminal of [...terminals().values()]) terminal.end(terminalClose.consoleRestarting, reason)
}

/** Recently used tunnel tokens, by a hash of the API key and the devbox. */
export const ptyTunnels = slot('ptyTunnels', () => new Map<string, { tunnel: PtyTunnel; untilMs: number }>())
/** Terminals that can be watched without signing in, by the hash of the link's token. */
export const followLinks = slot('followLinks', () => new Map<string, OpenTerminal>())
export const liveRecordings = slot('liveRecordings', () => new Set<string>())

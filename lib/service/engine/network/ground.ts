import type { Launch } from '../engine.ts'

/** What a devbox's network needs of the sandbox around it. */
export interface Ground {
  /** A command of the service's own on the devbox's network, with the rights to change that, otherwise outside of it. */
  onNetwork(argv: readonly string[]): Launch
  /** The same on the machine's network, within the limits of the devbox. */
  beside(argv: readonly string[]): Launch
  /** One with no rights but this user's, within the limits of the devbox. */
  outside(argv: readonly string[]): Launch
  /** Keeps the kernel from ending it first when the devbox's memory is used up. */
  spare(pid: number): void
  /** Names the devbox's network. */
  path: string
}

export interface Outbound {
  /** What programs in the devbox need to know of it. */
  environment: Readonly<Record<string, string>>
  /** What does not hold. */
  notEnforced?: string
  end(): void
}

import { randomBytes } from 'node:crypto'
import type { PtyTunnel } from '#lib/contract/devboxes.ts'

const tokenLifeMs = 12 * 60 * 60 * 1000
const ticketLifeMs = 60_000

/** Whose terminals a token or ticket opens, and of which devbox. */
export interface TerminalGrant {
  account: string
  devboxId: string
  /** Of the key that asked for it. */
  revoked?: AbortSignal
}

interface Ticket extends TerminalGrant {
  sessionName: string
}

/** Tokens open the terminals of one devbox; tickets open one session once. Both are forgotten with the service. */
export class TerminalTokens {
  readonly #tokens = new Map<string, TerminalGrant>()
  /** By the key that stands in a host name; it opens nothing by itself. */
  readonly #keys = new Map<string, TerminalGrant>()
  readonly #tickets = new Map<string, Ticket>()

  create(grant: TerminalGrant): PtyTunnel {
    return {
      tunnel_key: keep(this.#keys, grant, tokenLifeMs, randomBytes(16).toString('hex')),
      auth_token: keep(this.#tokens, grant, tokenLifeMs),
    }
  }

  isTunnel(key: string): boolean {
    return this.#keys.has(key)
  }

  /** The grant of a token of `devboxes.createPtyTunnel`; it may be used many times. */
  find(token: string): TerminalGrant | undefined {
    return this.#tokens.get(token)
  }

  issue(grant: TerminalGrant, sessionName: string): string {
    return keep(this.#tickets, { ...grant, sessionName }, ticketLifeMs)
  }

  /** Uses up the one-use ticket of a `connect_url`; undefined when it is unknown, old, used, or of another session. */
  redeem(ticket: string, sessionName: string): TerminalGrant | undefined {
    const grant = this.#tickets.get(ticket)
    this.#tickets.delete(ticket)
    return grant?.sessionName === sessionName ? grant : undefined
  }

  /** Forgets what opens the devbox's terminals. */
  revoke(devboxId: string): void {
    for (const grants of [this.#tokens, this.#tickets, this.#keys])
      for (const [secret, grant] of grants) if (grant.devboxId === devboxId) grants.delete(secret)
  }
}

/** What a caller may pass on: it ends with the key that the caller used. */
export const grantOf = (
  { account, revoked }: Pick<TerminalGrant, 'account' | 'revoked'>,
  devboxId: string,
): TerminalGrant => ({
  account,
  devboxId,
  ...(revoked && { revoked }),
})

/** Under a new secret that can be told in a header, a query and as a WebSocket subprotocol. */
const keep = <T>(
  secrets: Map<string, T>,
  grant: T,
  lifeMs: number,
  secret = randomBytes(32).toString('base64url'),
): string => {
  secrets.set(secret, grant)
  setTimeout(() => secrets.delete(secret), lifeMs).unref()
  return secret
}

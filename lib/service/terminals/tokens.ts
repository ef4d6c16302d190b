import { randomBytes } from 'node:crypto'
import type { PtyTunnel } from '#lib/contract/devboxes.ts'

const tokenLifeMs = 12 * 60 * 60 * 1000
const ticketLifeMs = 60_000

export interface TerminalGrant {
  account: string
  devboxId: string
  revoked?: AbortSignal
}

interface Ticket extends TerminalGrant {
  sessionName: string
}

/** Tokens grant access to a devbox's terminals; tickets to one session, once. In memory only. */
export class TerminalTokens {
  readonly #tokens = new Map<string, TerminalGrant>()
  readonly #keys = new Map<string, TerminalGrant>()
  readonly #tickets = new Map<string, Ticket>()

  create(grant: TerminalGrant): PtyTunnel {
    return {
      tunnel_key: store(this.#keys, grant, tokenLifeMs, randomBytes(16).toString('hex')),
      auth_token: store(this.#tokens, grant, tokenLifeMs),
    }
  }

  isTunnel(key: string): boolean {
    return this.#keys.has(key)
  }

  find(token: string): TerminalGrant | undefined {
    return this.#tokens.get(token)
  }

  issue(grant: TerminalGrant, sessionName: string): string {
    return store(this.#tickets, { ...grant, sessionName }, ticketLifeMs)
  }

  /** Consumes the ticket of a `connect_url`; undefined if unknown, expired, used, or for another session. */
  redeem(ticket: string, sessionName: string): TerminalGrant | undefined {
    const grant = this.#tickets.get(ticket)
    this.#tickets.delete(ticket)
    return grant?.sessionName === sessionName ? grant : undefined
  }

  revoke(devboxId: string): void {
    for (const grants of [this.#tokens, this.#tickets, this.#keys])
      for (const [secret, grant] of grants) if (grant.devboxId === devboxId) grants.delete(secret)
  }
}

export const grantOf = (
  { account, revoked }: Pick<TerminalGrant, 'account' | 'revoked'>,
  devboxId: string,
): TerminalGrant => ({
  account,
  devboxId,
  ...(revoked && { revoked }),
})

/** Stores the grant under a new secret that is safe in headers, queries and WebSocket subprotocols. */
const store = <T>(
  secrets: Map<string, T>,
  grant: T,
  lifeMs: number,
  secret = randomBytes(32).toString('base64url'),
): string => {
  secrets.set(secret, grant)
  setTimeout(() => secrets.delete(secret), lifeMs).unref()
  return secret
}

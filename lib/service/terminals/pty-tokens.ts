import { randomBytes } from 'node:crypto'
import type { PtyTunnel } from '#lib/contract/devboxes.ts'
import type { PtyGrant, PtyTokens } from '#lib/service/http/auth.ts'
import type { Caller } from '#lib/service/http/implement.ts'

const tokenLifeMs = 12 * 60 * 60 * 1000
const ticketLifeMs = 60_000

interface Ticket extends PtyGrant {
  sessionName: string
}

/** Tokens open the terminals of one devbox; tickets open one session once. Both are forgotten with the service. */
export class TerminalTokens implements PtyTokens {
  readonly #tokens = new Map<string, PtyGrant>()
  /** By the key that stands in a host name; it opens nothing by itself. */
  readonly #keys = new Map<string, PtyGrant>()
  readonly #tickets = new Map<string, Ticket>()

  create(grant: PtyGrant): PtyTunnel {
    return {
      tunnel_key: keep(this.#keys, grant, tokenLifeMs, randomBytes(16).toString('hex')),
      auth_token: keep(this.#tokens, grant, tokenLifeMs),
    }
  }

  isTunnel(key: string): boolean {
    return this.#keys.has(key)
  }

  find(token: string): PtyGrant | undefined {
    return this.#tokens.get(token)
  }

  issue(grant: PtyGrant, sessionName: string): string {
    return keep(this.#tickets, { ...grant, sessionName }, ticketLifeMs)
  }

  redeem(ticket: string, sessionName: string): PtyGrant | undefined {
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
export const grantOf = ({ account, revoked }: Pick<Caller, 'account' | 'revoked'>, devboxId: string): PtyGrant => ({
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

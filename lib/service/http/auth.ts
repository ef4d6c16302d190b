import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { contract } from '#lib/contract/index.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { digestOf } from '#lib/service/store/keys.ts'
import type { Match } from './router.ts'

export interface ApiKey {
  account: string
  key: string
}

/** Whose terminals a token or ticket opens, and of which devbox. */
export interface PtyGrant {
  account: string
  devboxId: string
  /** Of the key that asked for it. */
  revoked?: AbortSignal
}

/** What the terminals hand out and this file checks. */
export interface PtyTokens {
  /** The grant of a token of `devboxes.createPtyTunnel`; it may be used many times. */
  find(token: string): PtyGrant | undefined
  /** Uses up the one-use ticket of a `connect_url`; undefined when it is unknown, old, used, or of another session. */
  redeem(ticket: string, sessionName: string): PtyGrant | undefined
}

export interface Identity {
  account: string
  ptyDevboxId?: string
  /** Aborted when the key that was used is revoked: what it opened ends then. */
  revoked?: AbortSignal
  /** The WebSocket subprotocol to answer with. */
  protocol?: string
}

/** Throws 401 unless the request carries a credential that is good for what it asks. */
export type Authenticate = (request: IncomingMessage, match: Match | undefined) => Identity

interface MoreKeys {
  /** The account of a key made by `keys add`, by its digest. */
  find?: (digest: Buffer) => Identity | undefined
  /** Opens what the contract marks `operator`, and nothing else. */
  operatorToken?: string
}

export const createAuthenticate = (
  keys: readonly ApiKey[],
  ptyTokens: PtyTokens,
  { find = () => undefined, operatorToken }: MoreKeys = {},
): Authenticate => {
  const operator = operatorToken === undefined ? undefined : digestOf(operatorToken)
  const known = keys.map(({ account, key }) => ({ account, digest: digestOf(key) }))

  const byKey = (token: string | undefined): Identity | undefined => {
    if (!token) return undefined
    const digest = digestOf(token)
    let account: string | undefined
    // No early exit: how long it takes must not tell which key was nearly right.
    for (const each of known) if (timingSafeEqual(each.digest, digest)) account = each.account
    return account === undefined ? find(digest) : { account }
  }

  const byToken = (token: string | undefined): Identity | undefined => {
    if (!token) return undefined
    return byKey(token) ?? byGrant(ptyTokens.find(token))
  }

  const byTicket = (request: IncomingMessage, { params }: Match): Identity | undefined => {
    const ticket = new URLSearchParams(request.url?.split('?')[1]).get('ticket')
    const grant = ticket && params.session_name ? ptyTokens.redeem(ticket, params.session_name) : undefined
    return byGrant(grant || undefined)
  }

  const forAttach = (request: IncomingMessage, match: Match): Identity | undefined => {
    const protocols = offeredProtocols(request.headers)
    // The ticket comes first so that it is used up even when a better credential rides along.
    const identity =
      byTicket(request, match) ?? byTunnelHeaders(request.headers, byToken) ?? firstOf(protocols, byToken)
    if (!identity) return undefined
    // A client that offered subprotocols hangs up unless one of them comes back.
    const protocol = protocols.find((each) => byToken(each)) ?? protocols[0]
    return protocol === undefined ? identity : { ...identity, protocol }
  }

  const byOperatorToken = (request: IncomingMessage): Identity | undefined => {
    const token = bearer(request.headers.authorization)
    if (operator && token && timingSafeEqual(operator, digestOf(token))) return { account: '' }
    if (!byKey(token)) return undefined
    throw new ServiceError('forbidden', "This takes the operator's token, not an account's key: use the command line")
  }

  const refuse = createRefusal()

  return (request, match) => {
    const endpoint = match?.route.endpoint
    if (endpoint?.operator) return byOperatorToken(request) ?? refuse(request)
    const identity =
      match && endpoint === contract.terminals.attach
        ? forAttach(request, match)
        : endpoint === contract.terminals.connect || endpoint === contract.terminals.control
          ? byTunnelHeaders(request.headers, byToken)
          : byKey(bearer(request.headers.authorization))
    return identity ?? refuse(request)
  }
}

/** A grant is good as long as the key behind it. */
const byGrant = (grant: PtyGrant | undefined): Identity | undefined => {
  if (!grant || grant.revoked?.aborted) return undefined
  const { account, devboxId, revoked } = grant
  return { account, ptyDevboxId: devboxId, ...(revoked && { revoked }) }
}

const refusalWindowMs = 10_000
const maxRefusalsPerWindow = 100
const maxAddresses = 1000

/**
 * Throws 401, or 429 to an address that was refused a hundred times within ten seconds.
 * Unspecified: what guessing costs. The right key always passes: all of a machine share its address, and one of them
 * must not shut out the others. Keys the service makes are too long to guess.
 */
const createRefusal = () => {
  const windows = new Map<string, { endMs: number; refusals: number }>()
  return (request: IncomingMessage): never => {
    const address = request.socket.remoteAddress ?? ''
    const nowMs = Date.now()
    let window = windows.get(address)
    if (!window || window.endMs <= nowMs) {
      if (windows.size >= maxAddresses) windows.clear()
      window = { endMs: nowMs + refusalWindowMs, refusals: 0 }
      windows.set(address, window)
    }
    if (++window.refusals > maxRefusalsPerWindow)
      throw new ServiceError('rate_limited', 'Too many keys were refused; try again later', {
        retryAfterSeconds: (window.endMs - nowMs) / 1000,
      })
    throw new ServiceError('unauthenticated', 'A valid API key is needed: Authorization: Bearer <key>')
  }
}

const bearer = (header: string | string[] | undefined) =>
  typeof header === 'string' ? /^bearer +(\S+) *$/i.exec(header)?.[1] : undefined

const byTunnelHeaders = (headers: IncomingHttpHeaders, find: (token: string | undefined) => Identity | undefined) =>
  find(bearer(headers.authorization)) ?? find(bearer(headers['x-runloop-tunnel-authorization']))

const offeredProtocols = (headers: IncomingHttpHeaders) =>
  (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean)

const firstOf = <T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined => {
  for (const item of items) {
    const found = find(item)
    if (found) return found
  }
  return undefined
}

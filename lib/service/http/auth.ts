import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { clientOf } from '#lib/connections/client-of.ts'
import type { Endpoint } from '#lib/contract/endpoint.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { digestOf } from '#lib/service/store/keys.ts'
import type { Match } from './router.ts'

export interface ApiKey {
  account: string
  key: string
}

export interface Identity {
  account: string
  /** The one record that the credential is good for; absent: all of the account. */
  scope?: string
  /** Aborted when the key that was used is revoked: what it opened ends then. */
  revoked?: AbortSignal
  /** The WebSocket subprotocol to answer with. */
  protocol?: string
}

/** Throws 401 unless the request carries a credential that is good for what it asks. */
export type Authenticate = (request: IncomingMessage, match: Match | undefined) => Identity

type ByKey = (token: string | undefined) => Identity | undefined

/** Identifies the callers of an endpoint that takes more than a key in `Authorization`. */
export type Scheme = (request: IncomingMessage, match: Match, byKey: ByKey) => Identity | undefined

interface Options {
  /** The account of a key made by `keys add`, by its digest. */
  find?: (digest: Buffer) => Identity | undefined
  /** Opens what the contract marks `operator`, and nothing else. */
  operatorToken?: string
  schemes?: ReadonlyMap<Endpoint, Scheme>
}

export const createAuthenticate = (
  keys: readonly ApiKey[],
  { find = () => undefined, operatorToken, schemes = new Map() }: Options = {},
): Authenticate => {
  const operator = operatorToken === undefined ? undefined : digestOf(operatorToken)
  const known = keys.map(({ account, key }) => ({ account, digest: digestOf(key) }))

  const byKey: ByKey = (token) => {
    if (!token) return undefined
    const digest = digestOf(token)
    let account: string | undefined
    // No early exit: how long it takes must not tell which key was nearly right.
    for (const each of known) if (timingSafeEqual(each.digest, digest)) account = each.account
    return account === undefined ? find(digest) : { account }
  }

  const byOperatorToken = (token: string | undefined): Identity | undefined => {
    if (operator && token && timingSafeEqual(operator, digestOf(token))) return { account: '' }
    if (!byKey(token)) return undefined
    throw new ServiceError('forbidden', "This takes the operator's token, not an account's key: use the command line")
  }

  const refuse = createRefusal()

  return (request, match) => {
    const endpoint = match?.route.endpoint
    const scheme = endpoint && schemes.get(endpoint)
    const token = bearer(request.headers.authorization)
    const identity =
      match && scheme ? scheme(request, match, byKey) : endpoint?.operator ? byOperatorToken(token) : byKey(token)
    return identity ?? refuse(request)
  }
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
    const client = clientOf(request.socket.remoteAddress ?? '')
    const nowMs = Date.now()
    let window = windows.get(client)
    if (!window || window.endMs <= nowMs) {
      if (windows.size >= maxAddresses) windows.clear()
      window = { endMs: nowMs + refusalWindowMs, refusals: 0 }
      windows.set(client, window)
    }
    if (++window.refusals > maxRefusalsPerWindow)
      throw new ServiceError('rate_limited', 'Too many keys were refused; try again later', {
        retryAfterSeconds: (window.endMs - nowMs) / 1000,
      })
    throw new ServiceError('unauthenticated', 'A valid API key is needed: Authorization: Bearer <key>')
  }
}

/** The token of an `Authorization: Bearer` header. */
export const bearer = (header: string | string[] | undefined) =>
  typeof header === 'string' ? /^bearer +(\S+) *$/i.exec(header)?.[1] : undefined

import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Endpoint } from '#lib/contract/endpoint.ts'
import type { KeyScope } from '#lib/contract/keys.ts'
import { createWrongKeyLimit } from '#lib/limits/wrong-key-limit.ts'
import { missingScope } from '#lib/service/domain/key-scopes.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { digestOf } from '#lib/service/store/keys.ts'
import type { Match } from './router.ts'

export interface ApiKey {
  account: string
  key: string
}

export interface Identity {
  account: string
  scope?: string
  /** Unless the key comes from the environment or a file. */
  keyId?: string
  /** Scopes of a restricted key. */
  scopes?: readonly KeyScope[]
  revoked?: AbortSignal
  protocol?: string
}

export type Authenticate = (request: IncomingMessage, match: Match | undefined) => Promise<Identity>

type ByKey = (token: string | undefined) => Identity | undefined

/** Authenticates endpoints that accept more than a key in `Authorization`. */
export type Scheme = (request: IncomingMessage, match: Match, byKey: ByKey) => Identity | undefined

interface Options {
  find?: (digest: Buffer) => Identity | undefined
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
    // No early exit, to prevent timing attacks.
    for (const each of known) if (timingSafeEqual(each.digest, digest)) account = each.account
    return account === undefined ? find(digest) : { account }
  }

  const byOperatorToken = (token: string | undefined): Identity | undefined => {
    if (operator && token && timingSafeEqual(operator, digestOf(token))) return { account: '' }
    if (!byKey(token)) return undefined
    throw new ServiceError('forbidden', 'This endpoint requires the operator token; use the command line')
  }

  const wrongKeys = createWrongKeyLimit()

  return async (request, match) => {
    const endpoint = match?.route.endpoint
    const scheme = endpoint && schemes.get(endpoint)
    const token = bearer(request.headers.authorization)
    const identity =
      match && scheme ? scheme(request, match, byKey) : endpoint?.operator ? byOperatorToken(token) : byKey(token)
    if (identity?.scopes && endpoint) requireScope(endpoint, identity.scopes)
    if (identity) return identity
    // A missing credential isn't a guess.
    const waitSeconds = token || scheme ? await wrongKeys.count(request.socket.remoteAddress ?? '') : undefined
    if (waitSeconds !== undefined)
      throw new ServiceError('rate_limited', `Too many wrong API keys; retry in ${waitSeconds} s`, {
        retryAfterSeconds: waitSeconds,
      })
    throw new ServiceError('unauthenticated', 'A valid API key is required: Authorization: Bearer <key>')
  }
}

const requireScope = (endpoint: Endpoint, scopes: readonly KeyScope[]) => {
  const missing = missingScope(endpoint, scopes)
  if (missing)
    throw new ServiceError(
      'forbidden',
      `This restricted key lacks ${missing.access_level} for ${missing.resource_type}; use another key`,
    )
}

export const bearer = (header: string | string[] | undefined) =>
  typeof header === 'string' ? /^bearer +(\S+) *$/i.exec(header)?.[1] : undefined

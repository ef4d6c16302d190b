import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Endpoint } from '#lib/contract/endpoint.ts'
import { terminals } from '#lib/contract/terminals.ts'
import { bearer, type Identity, type Scheme } from '#lib/service/http/auth.ts'
import type { TerminalGrant, TerminalTokens } from '#lib/service/terminals/tokens.ts'
import type { TunnelHost } from './tunnel-proxy.ts'

type Tokens = Pick<TerminalTokens, 'find' | 'redeem'>
type Find = (token: string | undefined) => Identity | undefined

/** Terminals also accept a token of the devbox, and `attach` a single-use ticket of the session. */
export const terminalSchemes = (tokens: Tokens): [Endpoint, Scheme][] => {
  const orGrant =
    (byKey: Find): Find =>
    (token) =>
      token ? (byKey(token) ?? byGrant(tokens.find(token))) : undefined
  const terminalScheme: Scheme = ({ headers }, _match, byKey) => byTunnelHeaders(headers, orGrant(byKey))
  const attachScheme: Scheme = (request, { params }, byKey) => {
    const byToken = orGrant(byKey)
    const ticket = new URLSearchParams(request.url?.split('?')[1]).get('ticket')
    const byTicket = ticket && params.session_name ? byGrant(tokens.redeem(ticket, params.session_name)) : undefined
    const offered = offeredProtocols(request.headers)
    const known = offered.find((each) => byToken(each))
    // The ticket comes first so that it is always used up.
    const identity = byTicket ?? byTunnelHeaders(request.headers, byToken) ?? byToken(known)
    // A client that offered subprotocols disconnects unless one is selected.
    const protocol = known ?? offered[0]
    return identity && protocol !== undefined ? { ...identity, protocol } : identity
  }
  return [
    [terminals.attach, attachScheme],
    [terminals.connect, terminalScheme],
    [terminals.control, terminalScheme],
  ]
}

/** Port in a tunnel's host name by which the public clients address terminals. */
const terminalPort = 13

export const isTerminalAddress = (
  { url }: IncomingMessage,
  host: TunnelHost | undefined,
  tokens: Pick<TerminalTokens, 'isTunnel'>,
): boolean => host?.port === terminalPort && tokens.isTunnel(host.key) && url?.startsWith('/pty/') === true

/** A grant is valid as long as its key. */
const byGrant = (grant: TerminalGrant | undefined): Identity | undefined => {
  if (!grant || grant.revoked?.aborted) return undefined
  const { account, devboxId, revoked } = grant
  return { account, scope: devboxId, ...(revoked && { revoked }) }
}

const byTunnelHeaders = (headers: IncomingHttpHeaders, find: Find) =>
  find(bearer(headers.authorization)) ?? find(bearer(headers['x-runloop-tunnel-authorization']))

const offeredProtocols = (headers: IncomingHttpHeaders) =>
  (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean)

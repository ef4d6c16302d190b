import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Endpoint } from '#lib/contract/endpoint.ts'
import { terminals } from '#lib/contract/terminals.ts'
import { bearer, type Identity, type Scheme } from '#lib/service/http/auth.ts'
import type { TerminalGrant, TerminalTokens } from '#lib/service/terminals/tokens.ts'
import type { TunnelHost } from './tunnel-proxy.ts'

type Tokens = Pick<TerminalTokens, 'find' | 'redeem'>
type Find = (token: string | undefined) => Identity | undefined

/** Besides an account's key, a devbox's token opens terminals, and a session's ticket opens one attach. */
export const terminalSchemes = (tokens: Tokens): ReadonlyMap<Endpoint, Scheme> => {
  const orGrant =
    (byKey: Find): Find =>
    (token) =>
      token ? (byKey(token) ?? byGrant(tokens.find(token))) : undefined
  const byHeaders: Scheme = ({ headers }, _match, byKey) => byTunnelHeaders(headers, orGrant(byKey))
  const forAttach: Scheme = (request, { params }, byKey) => {
    const byToken = orGrant(byKey)
    const ticket = new URLSearchParams(request.url?.split('?')[1]).get('ticket')
    const byTicket = ticket && params.session_name ? byGrant(tokens.redeem(ticket, params.session_name)) : undefined
    const offered = offeredProtocols(request.headers)
    const known = offered.find((each) => byToken(each))
    // The ticket comes first so that it is used up even when another credential is given as well.
    const identity = byTicket ?? byTunnelHeaders(request.headers, byToken) ?? byToken(known)
    // A client that offered subprotocols hangs up unless one of them comes back.
    const protocol = known ?? offered[0]
    return identity && protocol !== undefined ? { ...identity, protocol } : identity
  }
  return new Map<Endpoint, Scheme>([
    [terminals.attach, forAttach],
    [terminals.connect, byHeaders],
    [terminals.control, byHeaders],
  ])
}

/** The port the public clients name in a tunnel's host name when they mean the terminals of a devbox. */
const terminalPort = 13

/** Whether a request under a tunnel's host name means the terminals. It still needs a credential. */
export const isTerminalAddress = (
  { url }: IncomingMessage,
  host: TunnelHost | undefined,
  tokens: Pick<TerminalTokens, 'isTunnel'>,
): boolean => host?.port === terminalPort && tokens.isTunnel(host.key) && url?.startsWith('/pty/') === true

/** A grant is good as long as the key behind it. */
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

import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import * as z from 'zod/mini'
import { queryInt } from '#lib/contract/common.ts'
import { errorStatus } from '#lib/contract/errors.ts'
import { parseQuery } from '#lib/contract/query-string.ts'
import { defaultSize, SizeQuery } from '#lib/contract/terminals.ts'
import { terminalClose } from '#lib/wire/terminals.ts'
import { requireSignedIn, type Session as SignedIn } from '../accounts/session-cookie.ts'
import { errorBody, Refusal, requestIdOf } from '../http/answer.ts'
import { requireOwnHost } from '../http/front.ts'
import { requireSameOrigin } from '../http/origin.ts'
import { clientFor } from '../http/upstream.ts'
import { registry, trackStream } from '../registry.ts'
import { followed } from './follow.ts'
import { keyOf, terminalsOf } from './held.ts'
import { TerminalSession } from './shared-terminal.ts'
import { Ending, endingOf } from './upstream.ts'
import { Viewer, type ViewerOpening } from './viewer.ts'

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

const maxInputBytes = 1024 * 1024
const maxTerminalsPerAccount = 64
const maxViewers = 32
const maxFollowers = 20
const maxScrollback = 10_000
const verifyTimeoutMs = 10_000

/**
 * The WebSockets of the console: `/api/terminals/{devbox_id}/{name}`, and `/api/follow/{token}` for who came by a link.
 * What is refused is refused as a plain HTTP answer. `forNext` gets the upgrades below `/_next/`, which is hot reloading in development.
 */
export const terminalUpgrades = (forNext?: Upgrade): Upgrade => {
  const server = new WebSocketServer({ noServer: true, maxPayload: maxInputBytes, perMessageDeflate: false })
  return (request, socket, head) => {
    // Until ws takes the socket over, nobody else hears of its errors.
    const ignore = () => socket.destroy()
    socket.on('error', ignore)
    if (forNext && request.url?.startsWith('/_next/') && isOwnPage(request)) return forNext(request, socket, head)
    admit(request).then(
      (enter) => {
        if (socket.destroyed) return
        socket.off('error', ignore)
        server.handleUpgrade(request, socket, head, (page) => enter((opening) => new Viewer(page, opening)))
      },
      (error: unknown) => refuse(socket, error),
    )
  }
}

/** What to do with the page once its socket is open. */
type Enter = (viewerOf: (opening: ViewerOpening) => Viewer) => void

const admit = async (request: IncomingMessage): Promise<Enter> => {
  const url = request.url ?? ''
  // An absolute target would name another host than the one in the Host header.
  if (!url.startsWith('/')) throw new Refusal('invalid_argument', 'The request target must be a path')
  requireOwnHost(request)
  const header = headerOf(request)
  const [path = '', search = ''] = url.split('?', 2)
  const terminal = /^\/api\/terminals\/([^/]*)\/([^/]*)$/.exec(path)
  const follow = /^\/api\/follow\/([\w-]{1,64})$/.exec(path)
  if (!terminal && !follow) throw new Refusal('not_found', 'No WebSocket is served here')
  requireSameOrigin(header, 'socket')
  const opening = () => ({ ...openingOf(search), name: browserOf(header('user-agent') ?? '') })
  if (follow) return enterByLink(followed(follow[1] ?? '', request.socket.remoteAddress ?? 'unknown'), opening())
  const signedIn = await requireSignedIn(header)
  const [, devboxId = '', name = ''] = terminal ?? []
  if (!/^[A-Za-z0-9_-]+$/.test(devboxId) || !/^[A-Za-z0-9_-]+$/.test(name) || `${devboxId}-${name}`.length > 256)
    throw new Refusal(
      'invalid_argument',
      'A devbox id and a terminal name hold ASCII letters, digits, - and _, together at most 255',
    )
  return enterSignedIn(signedIn, { devboxId, name }, opening())
}

const enterByLink = (session: TerminalSession, opening: Omit<ViewerOpening, 'signedIn'>): Enter => {
  if (session.viewersOf('followers') >= maxFollowers)
    return tooMany(`${maxFollowers} follow this terminal already`, { ...opening, signedIn: undefined })
  return (viewerOf) => session.join(viewerOf({ ...opening, signedIn: undefined }))
}

const enterSignedIn = (
  signedIn: SignedIn,
  { devboxId, name }: { devboxId: string; name: string },
  opening: Omit<ViewerOpening, 'signedIn'>,
): Enter => {
  const { terminals } = registry()
  const key = keyOf(signedIn.account.id, devboxId, name)
  if ((terminals.get(key)?.viewersOf('signed in') ?? 0) >= maxViewers)
    return tooMany(`${maxViewers} pages show this terminal already; close some`, { ...opening, signedIn })
  if (!terminals.has(key) && !makeRoom(signedIn.account.id))
    return tooMany(`${maxTerminalsPerAccount} terminals of this account are open already; close some`, {
      ...opening,
      signedIn,
    })

  return (viewerOf) => {
    const viewer = viewerOf({ ...opening, signedIn })
    const forget = trackStream(signedIn.sid, (reason) =>
      reason === 'signed out'
        ? viewer.close(terminalClose.signedOut, 'Signed out')
        : viewer.close(terminalClose.consoleRestarting, 'The console is restarting'),
    )
    viewer.onceClosed(forget)
    const session = terminals.get(key) ?? openSession(key, { signedIn, devboxId, name, size: opening.size })
    if (session.apiKey === signedIn.api_key) return session.join(viewer)
    // The terminal was opened with another key of the account; this one has to open the devbox by itself.
    clientFor(signedIn.api_key, verifyTimeoutMs)
      .devboxes.get({ params: { id: devboxId } })
      .then(
        () => session.join(viewer),
        (error: unknown) => viewer.fail(endingOf(error)),
      )
  }
}

/** Told over the open socket: why it got no socket, no browser tells a page. */
const tooMany =
  (message: string, opening: ViewerOpening): Enter =>
  (viewerOf) =>
    viewerOf(opening).fail(new Ending(terminalClose.tooMany, 'rate_limited', message))

const openSession = (key: string, opening: ConstructorParameters<typeof TerminalSession>[0]): TerminalSession => {
  const { terminals } = registry()
  const session = new TerminalSession(opening, () => {
    if (terminals.get(key) === session) terminals.delete(key)
  })
  terminals.set(key, session)
  return session
}

const word = z.string().check(z.regex(/^[\w-]{1,64}$/, 'must be 1 to 64 ASCII letters, digits, - or _'))
const OpeningQuery = z.object({
  client: z.optional(word),
  epoch: z.optional(word),
  since: z.optional(queryInt(0, Number.MAX_SAFE_INTEGER)),
  scrollback: z._default(queryInt(0, 1_000_000), 1000),
  role: z.optional(z.literal('watch', 'must be watch or left out')),
  ack: z.optional(z.literal('1', 'must be 1 or left out')),
})

const openingOf = (search: string): Omit<ViewerOpening, 'name' | 'signedIn'> => {
  const size = parseQuery(SizeQuery, search)
  const rest = parseQuery(OpeningQuery, search)
  if (!size.ok || !rest.ok) {
    const [problem] = [...(size.ok ? [] : size.problems), ...(rest.ok ? [] : rest.problems)]
    const field = problem?.field ?? 'cols'
    throw new Refusal('invalid_argument', `${field} ${problem?.message}`, { field })
  }
  const { client, epoch, since, scrollback, role, ack } = rest.value
  return {
    client,
    epoch,
    since,
    scrollback: Math.min(scrollback, maxScrollback),
    wantsToWatch: role === 'watch',
    promisesAcks: ack === '1',
    size: size.value.size ?? defaultSize,
  }
}

/** A terminal that nobody looks at makes room for one more. Says whether there is room. */
const makeRoom = (accountId: string): boolean => {
  const own = terminalsOf(accountId)
  if (own.length < maxTerminalsPerAccount) return true
  const unwatched = own.find(({ held }) => held.viewers.length === 0)
  unwatched?.end(terminalClose.upstreamLost, 'Another terminal took its place')
  return unwatched !== undefined
}

const headerOf = (request: IncomingMessage) => (name: string) => {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

const browsers = { Edg: 'Edge', OPR: 'Opera', Firefox: 'Firefox', Chrome: 'Chrome', Safari: 'Safari' }
const systems = {
  Android: 'Android',
  iPhone: 'iOS',
  iPad: 'iPadOS',
  Windows: 'Windows',
  'Mac OS': 'macOS',
  CrOS: 'ChromeOS',
  Linux: 'Linux',
}

/** In words of ours only: other people read it. */
const browserOf = (userAgent: string): string => {
  const named = (words: Record<string, string>) => Object.entries(words).find(([mark]) => userAgent.includes(mark))?.[1]
  const system = named(systems)
  return `${named(browsers) ?? 'A program'}${system === undefined ? '' : ` on ${system}`}`
}

const isOwnPage = (request: IncomingMessage): boolean => {
  try {
    requireOwnHost(request)
    requireSameOrigin(headerOf(request), 'socket')
    return true
  } catch {
    // Then it is refused like any other upgrade that is not a terminal.
    return false
  }
}

const refuse = (socket: Duplex, error: unknown): void => {
  const refusal =
    error instanceof Refusal ? error : new Refusal('internal', 'The console failed to answer; its log has more')
  const requestId = requestIdOf(new Headers())
  // Not the whole address: a link to follow by is a secret.
  if (refusal !== error) console.error(`Upgrade ${requestId} failed:`, error)
  const status = errorStatus[refusal.code]
  const body = JSON.stringify(errorBody(refusal, requestId))
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `cache-control: no-store\r\nconnection: close\r\n\r\n${body}`,
  )
}

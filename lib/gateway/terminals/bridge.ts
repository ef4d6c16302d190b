import type { WebSocket } from 'ws'
import * as z from 'zod/mini'
import { idPattern, queryInt } from '#lib/contract/common.ts'
import { parseQuery } from '#lib/contract/query-string.ts'
import { defaultSize, SizeQuery, sessionNamePattern } from '#lib/contract/terminals.ts'
import { roleRefusal } from '#lib/protocol/roles.ts'
import { terminalClose } from '#lib/protocol/terminals.ts'
import { trackStream } from '../accounts/open-streams.ts'
import { personOf } from '../accounts/person.ts'
import { requireSignedIn } from '../accounts/session-cookie.ts'
import type { Session } from '../accounts/types.ts'
import { browserName } from '../http/browser-name.ts'
import { HttpError } from '../http/handle-request.ts'
import { decodeSegment } from '../http/request-guards.ts'
import type { SocketRequest, SocketRoute } from '../http/upgrades.ts'
import { roleOf } from '../people/roles.ts'
import { clientFor } from '../upstream/client.ts'
import { followed } from './follow.ts'
import type { StoredFollowLink } from './follow-store.ts'
import { keyOf, terminalsOf } from './held.ts'
import { type OpenTerminal, terminals } from './registry.ts'
import { sessionNameOf } from './session-name.ts'
import { SharedTerminal } from './shared-terminal.ts'
import { Ending, endingOf } from './upstream.ts'
import { Viewer, type ViewerOpening } from './viewer.ts'

const maxTerminalsPerAccount = 64
const tooManyTerminals = `This account already has ${maxTerminalsPerAccount} open terminals; close some`
const maxViewers = 32
const maxFollowers = 20
const maxScrollback = 10_000
const verifyTimeoutMs = 10_000

export const terminalSockets: readonly SocketRoute[] = [
  { path: /^\/api\/terminals\/([^/]*)\/([^/]*)$/, admit: async (asked) => entering(await admitSignedIn(asked)) },
  { path: /^\/api\/follow\/([\w-]{1,64})$/, admit: async (asked) => entering(await admitFollower(asked)) },
]

type Enter = (viewerOf: (opening: ViewerOpening) => Viewer) => void

const entering = (enter: Enter) => (page: WebSocket) => enter((opening) => new Viewer(page, opening))

const admitFollower = async (asked: SocketRequest): Promise<Enter> => {
  const opening = openingOf(asked, undefined)
  const found = await followed(asked.match[1] ?? '', asked.address)
  const terminal = found.terminal ?? reopen(found.stored, opening)
  if (!terminal) return tooMany(tooManyTerminals, opening)
  if (terminal.viewersOf('followers') >= maxFollowers)
    return tooMany(`This terminal already has ${maxFollowers} followers`, opening)
  return (viewerOf) => terminal.join(viewerOf(opening))
}

/** Opens the terminal of a link from an earlier console process, on behalf of the link's creator. */
const reopen = ({ account_id, devbox_id, name, session }: StoredFollowLink, { size }: ViewerOpening) => {
  const key = keyOf(account_id, devbox_id, name)
  const open = () => openTerminal(key, { signedIn: session, devboxId: devbox_id, name, size })
  return terminals().get(key) ?? (freeTerminalSlot(account_id) ? open() : undefined)
}

const admitSignedIn = async (asked: SocketRequest): Promise<Enter> => {
  const signedIn = await requireSignedIn(asked.header)
  const [devboxId = '', name = ''] = asked.match.slice(1).map(decodeSegment)
  if (!idPattern.test(devboxId)) throw new HttpError('invalid_argument', 'This is not the ID of a devbox')
  if (!sessionNamePattern.test(sessionNameOf(devboxId, name)))
    throw new HttpError(
      'invalid_argument',
      'A terminal name may contain ASCII letters, digits, - and _, and 255 characters in total with the devbox ID',
    )
  const opening = openingOf(asked, signedIn)
  const key = keyOf(signedIn.account.id, devboxId, name)
  if ((terminals().get(key)?.viewersOf('signed in') ?? 0) >= maxViewers)
    return tooMany(`This terminal is already open in ${maxViewers} pages; close some`, opening)
  if (!terminals().has(key) && !freeTerminalSlot(signedIn.account.id)) return tooMany(tooManyTerminals, opening)

  return (viewerOf) => {
    const viewer = viewerOf(opening)
    if (opening.watchOnlyReason !== null && !terminals().has(key)) {
      const message = `This terminal isn't open. ${opening.watchOnlyReason}`
      return viewer.fail(new Ending(terminalClose.followOnly, 'forbidden', message))
    }
    const forget = trackStream(signedIn, {
      end: (reason) =>
        reason === 'signed out'
          ? viewer.close(terminalClose.signedOut, 'Signed out')
          : viewer.close(
              terminalClose.consoleRestarting,
              reason === 'restarting' ? 'The console is restarting' : 'Your role has changed',
            ),
    })
    viewer.onceClosed(forget)
    const terminal = terminals().get(key) ?? openTerminal(key, { signedIn, devboxId, name, size: opening.size })
    if (terminal.apiKey === signedIn.api_key) return terminal.join(viewer)
    // The terminal was opened with another key of the account: check that this key may open the devbox too.
    clientFor(signedIn.api_key, verifyTimeoutMs)
      .devboxes.get({ params: { id: devboxId } })
      .then(
        () => terminal.join(viewer),
        (error: unknown) => viewer.fail(endingOf(error)),
      )
  }
}

/** Browsers don't report why an upgrade was refused, so the reason is sent over an open socket. */
const tooMany =
  (message: string, opening: ViewerOpening): Enter =>
  (viewerOf) =>
    viewerOf(opening).fail(new Ending(terminalClose.tooMany, 'rate_limited', message))

const openTerminal = (key: string, opening: ConstructorParameters<typeof SharedTerminal>[0]): OpenTerminal => {
  const terminal = new SharedTerminal(opening, () => {
    if (terminals().get(key) === terminal) terminals().delete(key)
  })
  terminals().set(key, terminal)
  return terminal
}

const word = z.string().check(z.regex(/^[\w-]{1,64}$/, 'must be 1 to 64 ASCII letters, digits, - or _'))
const OpeningQuery = z.object({
  client: z.optional(word),
  epoch: z.optional(word),
  since: z.optional(queryInt(0, Number.MAX_SAFE_INTEGER)),
  scrollback: z._default(queryInt(0, 1_000_000), 1000),
  role: z.optional(z.literal('watch', 'must be watch or omitted')),
  ack: z.optional(z.literal('1', 'must be 1 or omitted')),
})

const openingOf = ({ search, header, address }: SocketRequest, signedIn: Session | undefined): ViewerOpening => {
  const size = parseQuery(SizeQuery, search)
  const rest = parseQuery(OpeningQuery, search)
  if (!size.ok || !rest.ok) {
    const [problem] = [...(size.ok ? [] : size.problems), ...(rest.ok ? [] : rest.problems)]
    const field = problem?.field ?? 'cols'
    throw new HttpError('invalid_argument', `${field} ${problem?.message}`, { field })
  }
  const { client, epoch, since, scrollback, role, ack } = rest.value
  const watchOnlyReason = signedIn ? roleRefusal(roleOf(signedIn) ?? 'viewer', 'member') : null
  return {
    signedIn,
    person: signedIn ? personOf(signedIn, header) : null,
    browser: browserName(header('user-agent') ?? ''),
    address,
    client,
    epoch,
    since,
    scrollback: Math.min(scrollback, maxScrollback),
    wantsToWatch: role === 'watch' || watchOnlyReason !== null,
    watchOnlyReason,
    promisesAcks: ack === '1',
    size: size.value.size ?? defaultSize,
  }
}

/** Ends a terminal without pages if the account is at its limit. Returns false if every terminal has pages. */
const freeTerminalSlot = (accountId: string): boolean => {
  const own = terminalsOf(accountId)
  if (own.length < maxTerminalsPerAccount) return true
  const unwatched = own.find(({ held }) => held.viewers.length === 0)
  unwatched?.end(terminalClose.upstreamLost, 'Replaced by another terminal')
  return unwatched !== undefined
}

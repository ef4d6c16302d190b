import { createHash, randomBytes } from 'node:crypto'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import { requireSameOrigin } from '../http/origin.ts'
import { countWrongKey } from '../limits/wrong-keys.ts'
import { type OpenTerminal, registry, type TrackedSession, trackStream } from '../registry/registry.ts'

// Unspecified: how long a link lasts. Half a day, unless the terminal ends or its maker signs out before.
const lifeMs = 12 * 60 * 60_000

/** A link by which anyone may watch one terminal without signing in, until it is ended or half a day has passed. */
export class FollowLink {
  readonly path: string
  readonly expiresAtMs = Date.now() + lifeMs
  readonly #digest: string
  readonly #timer: NodeJS.Timeout
  readonly #untrack: () => void
  readonly #ended: () => void

  /** `ended` is called once, however it ends. The link does not outlive the session that made it. */
  constructor(terminal: OpenTerminal, session: TrackedSession, ended: () => void) {
    const token = randomBytes(24).toString('base64url')
    this.path = `/follow/${token}`
    this.#digest = digest(token)
    this.#ended = ended
    this.#timer = setTimeout(() => this.end(), lifeMs).unref()
    this.#untrack = trackStream(session, this)
    registry().followLinks.set(this.#digest, terminal)
  }

  end(): void {
    if (!registry().followLinks.delete(this.#digest)) return
    clearTimeout(this.#timer)
    this.#untrack()
    this.#ended()
  }
}

/** Resolves to the terminal that a link shows. Throws 404 when there is none, and 429 to a client that guesses. */
export const followed = async (token: string, client: string): Promise<OpenTerminal> => {
  // The lookup is by a hash, so the time it takes tells nothing about the tokens there are.
  const terminal = registry().followLinks.get(digest(token))
  if (terminal) return terminal
  await countWrongKey(client, 'Too many wrong links')
  throw new HttpError('not_found', 'This link has ended, or never was one')
}

/** `GET /api/follow/{token}`: what the link shows, for a visitor who has not signed in. */
export const followView = (request: Request, token: string): Promise<Response> =>
  handleRequest(request, async () => {
    const header = (name: string) => request.headers.get(name)
    requireSameOrigin(header, 'read')
    const { held } = await followed(token, header('x-devdeck-client') ?? 'unknown')
    const { name, title } = held
    return json({ name, title })
  })

const digest = (token: string) => createHash('sha256').update(token).digest('base64url')

import { createHash, randomBytes } from 'node:crypto'
import { type TrackedSession, trackStream } from '../accounts/open-streams.ts'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import { requireSameOrigin } from '../http/origin.ts'
import { countWrongKey } from '../limits/wrong-keys.ts'
import { serviceNow } from '../upstream/clock.ts'
import { followLinks, type OpenTerminal } from './registry.ts'

// Unspecified: lifetime of a link. 12 hours, or until the terminal ends or its creator signs out.
const lifeMs = 12 * 60 * 60_000

/** Read-only link to one terminal that needs no sign-in. */
export class FollowLink {
  readonly path: string
  readonly expiresAtMs = serviceNow() + lifeMs
  readonly #digest: string
  readonly #timer: NodeJS.Timeout
  readonly #untrack: () => void
  readonly #ended: () => void

  /** `ended` is called once, whatever ends the link. */
  constructor(terminal: OpenTerminal, session: TrackedSession, ended: () => void) {
    const token = randomBytes(24).toString('base64url')
    this.path = `/follow/${token}`
    this.#digest = digest(token)
    this.#ended = ended
    this.#timer = setTimeout(() => this.end(), lifeMs).unref()
    this.#untrack = trackStream(session, this)
    followLinks().set(this.#digest, terminal)
  }

  end(): void {
    if (!followLinks().delete(this.#digest)) return
    clearTimeout(this.#timer)
    this.#untrack()
    this.#ended()
  }
}

/** Returns the terminal behind a link. Throws 404 for an unknown link and 429 for too many wrong ones. */
export const followed = async (token: string, client: string): Promise<OpenTerminal> => {
  // Looking up by hash keeps timing independent of existing tokens.
  const terminal = followLinks().get(digest(token))
  if (terminal) return terminal
  await countWrongKey(client, 'Too many invalid links')
  throw new HttpError('not_found', 'This link has expired or is invalid')
}

export const followView = (request: Request, token: string): Promise<Response> =>
  handleRequest(request, async () => {
    const header = (name: string) => request.headers.get(name)
    requireSameOrigin(header, 'read')
    const { held } = await followed(token, header('x-devdeck-client') ?? 'unknown')
    const { name, title } = held
    return json({ name, title })
  })

const digest = (token: string) => createHash('sha256').update(token).digest('base64url')

import { createHash, randomBytes } from 'node:crypto'
import { answering, json, Refusal } from '../http/answer.ts'
import { requireSameOrigin } from '../http/origin.ts'
import { type OpenTerminal, registry, trackStream } from '../registry.ts'

// Unspecified: how long a link lasts. As long as a working day, unless what it shows or who made it goes before.
const lifeMs = 12 * 60 * 60_000
const maxWrong = 20
const wrongWindowMs = 60_000

/** Lets whoever has its path watch one terminal, without signing in: until it is ended, or half a day has passed. */
export class FollowLink {
  readonly path: string
  readonly expiresAtMs = Date.now() + lifeMs
  readonly #digest: string
  readonly #timer: NodeJS.Timeout
  readonly #untrack: () => void
  readonly #ended: () => void

  /** `ended` is called once, however it ends. It does not outlive the session of who made it. */
  constructor(terminal: OpenTerminal, sid: string, ended: () => void) {
    const token = randomBytes(24).toString('base64url')
    this.path = `/follow/${token}`
    this.#digest = digest(token)
    this.#ended = ended
    this.#timer = setTimeout(() => this.end(), lifeMs).unref()
    this.#untrack = trackStream(sid, () => this.end())
    registry().followLinks.set(this.#digest, terminal)
  }

  end(): void {
    if (!registry().followLinks.delete(this.#digest)) return
    clearTimeout(this.#timer)
    this.#untrack()
    this.#ended()
  }
}

/** The terminal a link lets watch. Refused when there is none, and without a look when `client` guesses. */
export const followed = (token: string, client: string): OpenTerminal => {
  // Looked up by a hash: how long that takes tells nothing of the tokens there are.
  const terminal = registry().followLinks.get(digest(token))
  if (terminal) return terminal
  const { wrongFollows } = registry()
  const now = Date.now()
  for (const [each, times] of wrongFollows)
    if (times.every((at) => now - at >= wrongWindowMs)) wrongFollows.delete(each)
  const times = (wrongFollows.get(client) ?? []).filter((at) => now - at < wrongWindowMs)
  if (times.length >= maxWrong)
    throw new Refusal('rate_limited', 'Too many links that lead nowhere; try again in a minute', {
      retryAfterSeconds: wrongWindowMs / 1000,
    })
  wrongFollows.set(client, [...times, now])
  throw new Refusal('not_found', 'This link has ended, or never was one')
}

/** `GET /api/follow/{token}`: what the link shows, for who has not signed in. */
export const followView = (request: Request, token: string): Promise<Response> =>
  answering(request, async () => {
    const header = (name: string) => request.headers.get(name)
    requireSameOrigin(header, 'read')
    const { name, title } = followed(token, header('x-devdeck-client') ?? 'unknown').held
    return json({ name, title })
  })

const digest = (token: string) => createHash('sha256').update(token).digest('base64url')

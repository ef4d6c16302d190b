import { randomBytes } from 'node:crypto'
import { digestOf } from '../accounts/digest.ts'
import { type EndReason, trackStream } from '../accounts/open-streams.ts'
import type { Session } from '../accounts/types.ts'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import { requireSameOrigin } from '../http/origin.ts'
import { countWrongKey } from '../limits/wrong-keys.ts'
import { logError } from '../observability/log.ts'
import { toServiceTime } from '../upstream/clock.ts'
import { followStore, type StoredFollowLink } from './follow-store.ts'
import { followLinks, type OpenTerminal } from './registry.ts'

// Unspecified: lifetime of a link. 12 hours, or until the terminal ends or its creator signs out.
const lifeMs = 12 * 60 * 60_000

/** Read-only link to one terminal that needs no sign-in. */
export class FollowLink {
  readonly path: string
  readonly expiresAtMs: number
  readonly #digest: string
  readonly #timer: NodeJS.Timeout
  readonly #untrack: () => void
  readonly #ended: () => void

  /** `ended` is called once, whatever ends the link. `stored`: a link from an earlier console process. */
  constructor(terminal: OpenTerminal, session: Session, ended: () => void, stored?: StoredFollowLink) {
    const token = stored?.token ?? randomBytes(24).toString('base64url')
    const expires_ms = stored?.expires_ms ?? Date.now() + lifeMs
    this.path = `/follow/${token}`
    this.expiresAtMs = toServiceTime(expires_ms)
    this.#digest = digestOf(token)
    this.#ended = ended
    this.#timer = setTimeout(() => this.end(), expires_ms - Date.now()).unref()
    this.#untrack = trackStream(session, this)
    followLinks().set(this.#digest, terminal)
    if (!stored) void this.#store(terminal, { token, session, expires_ms })
  }

  /** For `restarting`, the link stays valid: the terminal is opened again. */
  end(reason?: EndReason): void {
    if (reason === 'restarting' || !this.leave()) return
    followStore().remove(this.#digest)
    this.#ended()
  }

  /** Keeps the link for whoever opens the terminal next. Returns false if it has ended. */
  leave(): boolean {
    clearTimeout(this.#timer)
    this.#untrack()
    return followLinks().delete(this.#digest)
  }

  async #store(
    { accountId, devboxId, held: { name } }: OpenTerminal,
    made: Pick<StoredFollowLink, 'token' | 'session' | 'expires_ms'>,
  ): Promise<void> {
    try {
      await followStore().add(this.#digest, { account_id: accountId, devbox_id: devboxId, name, ...made })
      if (!followLinks().has(this.#digest)) followStore().remove(this.#digest)
    } catch (error) {
      logError('A follow link could not be stored; it works only until this console stops', error)
    }
  }
}

/** The link that an earlier console process created for this terminal. */
export const storedLinkOf = ({ accountId, devboxId, held: { name } }: OpenTerminal) =>
  followStore().of({ account_id: accountId, devbox_id: devboxId, name })

/**
 * Returns the terminal behind a link, or the stored link if no page has opened the terminal since the console started.
 * Throws 404 for an unknown link and 429 for too many wrong ones.
 */
export const followed = async (
  token: string,
  client: string,
): Promise<{ terminal: OpenTerminal } | { terminal?: undefined; stored: StoredFollowLink }> => {
  const terminal = followLinks().get(digestOf(token))
  if (terminal) return { terminal }
  const stored = await followStore().find(digestOf(token))
  if (stored) return { stored }
  await countWrongKey(client, 'Too many invalid links')
  throw new HttpError('not_found', 'This link has expired or is invalid')
}

export const followView = (request: Request, token: string): Promise<Response> =>
  handleRequest(request, async () => {
    const header = (name: string) => request.headers.get(name)
    requireSameOrigin(header, 'read')
    const found = await followed(token, header('x-devdeck-client') ?? 'unknown')
    if (!found.terminal) return json({ name: found.stored.name, title: '' })
    const { name, title } = found.terminal.held
    return json({ name, title })
  })

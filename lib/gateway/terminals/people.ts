import type { TerminalNotice } from '#lib/protocol/terminals.ts'
import type { Viewer } from './viewer.ts'

// Unspecified: after the writer has left, nobody writes until a page takes over or a new one joins.
/** A page that reconnects within this time isn't new. */
const roleKeptMs = 30_000
const maxRemembered = 100

/** The pages that show a terminal. At most one writes. */
export class People {
  readonly #viewers = new Set<Viewer>()
  #writer: Viewer | undefined
  #lastWriter: { client: string; leftMs: number } | undefined
  readonly #watched = new Set<string>()

  get all(): Viewer[] {
    return [...this.#viewers]
  }

  get writer(): Viewer | undefined {
    return this.#writer
  }

  get isEmpty(): boolean {
    return this.#viewers.size === 0
  }

  has(viewer: Viewer): boolean {
    return this.#viewers.has(viewer)
  }

  /** Returns the previous connection of the same page, which this one replaces. */
  join(viewer: Viewer): Viewer | undefined {
    const { client } = viewer.opening
    const before = client === undefined ? undefined : this.all.find((each) => isSamePage(each, viewer))
    const wrote = before !== undefined && before === this.#writer
    if (before) this.leave(before)
    this.#viewers.add(viewer)
    if (this.#mayWrite(viewer, wrote)) this.setWriter(viewer)
    else this.#remember(viewer)
    return before
  }

  leave(viewer: Viewer): void {
    this.#viewers.delete(viewer)
    if (viewer !== this.#writer) return
    this.#writer = undefined
    const { client } = viewer.opening
    if (client !== undefined) this.#lastWriter = { client, leftMs: Date.now() }
  }

  clear(): void {
    this.#viewers.clear()
    this.#writer = undefined
  }

  setWriter(viewer: Viewer): Viewer | undefined {
    const before = this.#writer
    if (before && before !== viewer) this.#remember(before)
    this.#writer = viewer
    this.#lastWriter = undefined
    if (viewer.opening.client !== undefined) this.#watched.delete(viewer.opening.client)
    return before
  }

  roleOf(viewer: Viewer): 'writer' | 'watcher' {
    return viewer === this.#writer ? 'writer' : 'watcher'
  }

  noticeFor(viewer: Viewer): Extract<TerminalNotice, { t: 'people' }> {
    // Visitors with a link don't see who else is watching.
    const shown = ({ view, opening }: Viewer) => (viewer.view.follower ? { ...view, name: opening.browser } : view)
    return {
      t: 'people',
      you: viewer.view.id,
      role: this.roleOf(viewer),
      writer: this.#writer ? shown(this.#writer) : null,
      viewers: this.all.map(shown),
    }
  }

  #mayWrite({ opening: { client, signedIn, wantsToWatch } }: Viewer, wrote: boolean): boolean {
    if (!signedIn || wantsToWatch || this.#writer) return false
    if (wrote || !this.#lastWriter || this.#lastWriter.client === client) return true
    // A watcher that reconnects first must not become the writer.
    const isKept = Date.now() - this.#lastWriter.leftMs < roleKeptMs
    return !isKept || client === undefined || !this.#watched.has(client)
  }

  #remember({ opening: { client, signedIn } }: Viewer): void {
    if (client === undefined || !signedIn) return
    if (this.#watched.size >= maxRemembered) this.#watched.clear()
    this.#watched.add(client)
  }
}

/** Visitors choose their client name freely, so a visitor never replaces a signed-in page. */
const isSamePage = (a: Viewer, b: Viewer) =>
  a.opening.client === b.opening.client && a.view.follower === b.view.follower

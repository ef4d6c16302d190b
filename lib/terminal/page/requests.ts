import type { SplitWay } from '../layout/layout.ts'

/** What can be asked of terminals, and what comes with it. */
interface Requests {
  /** Of the terminals of a devbox. */
  'new-tab': undefined
  split: SplitWay
  reopen: undefined
  /** Text for the prompt line, of one pane or of the one that has the keyboard; see `promptText`. */
  prompt: string
  /** Of one pane. */
  find: undefined
  settings: undefined
  links: undefined
  reset: undefined
  focus: undefined
}
export type RequestKind = keyof Requests
export type Detail<Kind extends RequestKind> = Requests[Kind] extends undefined ? [] : [detail: Requests[Kind]]

/** Who is asked: all terminals of a devbox, by its id, or one pane of them. */
export const paneOf = ({ devboxId, name }: { devboxId: string; name: string }): string => `${devboxId}/${name}`

/** An older request is dropped: the page of the terminals could not be opened, and nobody expects it any more. */
const maxWaitMs = 30_000

/** What the palette, the menus and the panes of one page ask of each other. */
export class TerminalRequests {
  readonly #handlers = new Map<string, (...detail: unknown[]) => void>()
  #waiting: { key: string; detail: unknown[]; sinceMs: number }[] = []

  /** Makes a request, which is served now or as soon as somebody serves its kind. */
  ask<Kind extends RequestKind>(of: string, kind: Kind, ...detail: Detail<Kind>): void {
    const key = `${of} ${kind}`
    const handler = this.#handlers.get(key)
    if (handler) handler(...detail)
    else this.#waiting.push({ key, detail, sinceMs: Date.now() })
  }

  /** Serves one kind of request, and those of it that wait. Returns the call that ends it. */
  serve<Kind extends RequestKind>(of: string, kind: Kind, run: (...detail: Detail<Kind>) => void): () => void {
    const key = `${of} ${kind}`
    const handler = run as (...detail: unknown[]) => void
    this.#handlers.set(key, handler)
    const now = Date.now()
    const waiting = this.#waiting.filter((each) => now - each.sinceMs <= maxWaitMs)
    this.#waiting = waiting.filter((each) => each.key !== key)
    for (const { detail } of waiting.filter((each) => each.key === key)) handler(...detail)
    return () => {
      if (this.#handlers.get(key) === handler) this.#handlers.delete(key)
    }
  }
}

import type { SplitDirection } from '../layout/layout.ts'

interface Requests {
  'new-tab': undefined
  split: SplitDirection
  /** Text for the prompt of a pane, or of the focused one; see `promptText`. */
  prompt: string
  /** A folder for a new shell to change to. */
  folder: string
  find: undefined
  settings: undefined
  links: undefined
  reset: undefined
  'clear-scrollback': undefined
  focus: undefined
}
export type RequestKind = keyof Requests
export type Detail<Kind extends RequestKind> = Requests[Kind] extends undefined ? [] : [detail: Requests[Kind]]

export const paneOf = ({ devboxId, name }: { devboxId: string; name: string }): string => `${devboxId}/${name}`

/** Older requests are dropped: the terminal page could not be opened. */
const maxWaitMs = 30_000

export class TerminalRequests {
  readonly #handlers = new Map<string, (...detail: unknown[]) => void>()
  #waiting: { key: string; detail: unknown[]; sinceMs: number }[] = []

  /** Delivered now, or once a handler for its kind is registered. */
  ask<Kind extends RequestKind>(of: string, kind: Kind, ...detail: Detail<Kind>): void {
    const key = `${of} ${kind}`
    const handler = this.#handlers.get(key)
    if (handler) handler(...detail)
    else this.#waiting.push({ key, detail, sinceMs: performance.now() })
  }

  /** Handles one kind of request, including pending ones. Returns the unregister function. */
  serve<Kind extends RequestKind>(of: string, kind: Kind, run: (...detail: Detail<Kind>) => void): () => void {
    const key = `${of} ${kind}`
    const handler = run as (...detail: unknown[]) => void
    this.#handlers.set(key, handler)
    const now = performance.now()
    const waiting = this.#waiting.filter((each) => now - each.sinceMs <= maxWaitMs)
    this.#waiting = waiting.filter((each) => each.key !== key)
    for (const { detail } of waiting.filter((each) => each.key === key)) handler(...detail)
    return () => {
      if (this.#handlers.get(key) === handler) this.#handlers.delete(key)
    }
  }
}

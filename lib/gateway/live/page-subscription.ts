import type { LiveError, LiveNotice, LiveState } from '#lib/protocol/live.ts'
import { serviceNow, toServiceTime } from '../upstream/clock.ts'
import type { ServiceMonitor } from './service-monitor.ts'
import type { Subscriber } from './subscription.ts'

/** What one frame gathers, unless one item alone is longer. */
const maxGathered = 64 * 1024

/** The page that follows it. */
interface Page {
  readonly pulse: Pick<ServiceMonitor, 'lateSinceMs'>
  /** Characters of items that the page has not taken in. */
  unread: number
  readonly hasRoom: boolean
  /** Resolves once there may be room. */
  roomChange(): Promise<void>
  send(frame: string): void
  tell(notice: LiveNotice): void
  forget(id: number): void
}

/** Where it is read from. */
interface Source {
  leave(): void
}

/** One thing that a page follows: its state, and what is gathered for the next frame. */
export class PageSubscription implements Subscriber {
  readonly #id: number
  readonly #page: Page
  source: Source | undefined
  #isOver = false
  /** Of its own stream, before the pulse of the service is taken into account. */
  #own: { state: LiveState; since_ms: number; error?: LiveError } | undefined
  /** The state the page was told last. */
  #told = ''
  #items: string[] = []
  /** Of all items together. */
  #length = 0
  #position = ''

  constructor(id: number, page: Page) {
    this.#id = id
    this.#page = page
  }

  data(text: string, position: string): void {
    if (this.#isOver) return
    // What comes in one turn of the event loop goes out in one frame.
    if (this.#items.push(text) === 1) setImmediate(() => this.#flush())
    this.#position = position
    this.#length += text.length
    this.#page.unread += text.length
    if (this.#length >= maxGathered) this.#flush()
  }

  room(): Promise<void> | undefined {
    return this.#page.hasRoom ? undefined : this.#untilRoom()
  }

  async #untilRoom(): Promise<void> {
    while (!this.#page.hasRoom && !this.#isOver) await this.#page.roomChange()
  }

  resync(position: string): void {
    if (this.#isOver) return
    this.#flush()
    this.#page.tell({ t: 'resync', id: this.#id, position })
  }

  state(state: LiveState, error?: LiveError): void {
    const own = this.#own
    const isSame = error?.code === own?.error?.code && error?.retry_at_ms === own?.error?.retry_at_ms
    if (this.#isOver || (state === own?.state && isSame)) return
    const since_ms = state === own?.state ? own.since_ms : serviceNow()
    this.#own = { state, since_ms, ...(error && { error }) }
    this.tellState()
  }

  /** Tells the page of the state, if that is another one by now. */
  tellState(): void {
    if (!this.#own) return
    const { lateSinceMs } = this.#page.pulse
    const isLate = this.#own.state === 'live' && lateSinceMs !== undefined
    const text = JSON.stringify({
      t: 'state',
      id: this.#id,
      ...this.#own,
      ...(isLate && { state: 'late', since_ms: toServiceTime(lateSinceMs) }),
    } satisfies LiveNotice)
    if (text === this.#told) return
    this.#told = text
    this.#page.send(text)
  }

  end(error?: LiveError): void {
    if (this.#isOver) return
    this.#flush()
    this.#page.tell({ t: 'end', id: this.#id, ...(error && { error }) })
    this.#page.forget(this.#id)
  }

  /** What it has gathered is not sent any more. */
  leave(): void {
    this.#isOver = true
    this.#page.unread -= this.#length
    this.source?.leave()
  }

  #flush(): void {
    const items = this.#items
    if (items.length === 0 || this.#isOver) return
    this.#items = []
    this.#length = 0
    const position = JSON.stringify(this.#position)
    this.#page.send(`{"t":"data","id":${this.#id},"position":${position},"items":[${items.join(',')}]}`)
  }
}

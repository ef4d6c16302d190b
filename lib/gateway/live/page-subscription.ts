import type { LiveError, LiveNotice, LiveState } from '#lib/protocol/live.ts'
import { serviceNow, toServiceTime } from '../upstream/clock.ts'
import type { ServiceMonitor } from './service-monitor.ts'
import type { Subscriber } from './subscription.ts'

/** Maximum characters per frame, unless one item is longer. */
const maxGathered = 64 * 1024

/** The subscribed page. */
interface Page {
  readonly monitor: Pick<ServiceMonitor, 'lateSinceMs'>
  /** Unacknowledged characters. */
  unread: number
  readonly hasRoom: boolean
  roomChange(): Promise<void>
  send(frame: string): void
  notify(notice: LiveNotice): void
  forget(id: number): void
}

interface Source {
  leave(): void
}

/** One topic a page follows: its state and the items of the next frame. */
export class PageSubscription implements Subscriber {
  readonly #id: number
  readonly #page: Page
  source: Source | undefined
  #isOver = false
  /** State of its own stream, ignoring the service's health. */
  #own: { state: LiveState; since_ms: number; error?: LiveError } | undefined
  /** State last sent to the page. */
  #lastText = ''
  #items: string[] = []
  /** Total length of the pending items. */
  #length = 0
  #position = ''

  constructor(id: number, page: Page) {
    this.#id = id
    this.#page = page
  }

  data(text: string, position: string): void {
    if (this.#isOver) return
    // Items of one event loop turn share a frame.
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
    this.#page.notify({ t: 'resync', id: this.#id, position })
  }

  state(state: LiveState, error?: LiveError): void {
    const own = this.#own
    const isSame = error?.code === own?.error?.code && error?.retry_at_ms === own?.error?.retry_at_ms
    if (this.#isOver || (state === own?.state && isSame)) return
    const since_ms = state === own?.state ? own.since_ms : serviceNow()
    this.#own = { state, since_ms, ...(error && { error }) }
    this.tellState()
  }

  /** Sends the state if it has changed. */
  tellState(): void {
    if (!this.#own) return
    const { lateSinceMs } = this.#page.monitor
    const isLate = this.#own.state === 'live' && lateSinceMs !== undefined
    const text = JSON.stringify({
      t: 'state',
      id: this.#id,
      ...this.#own,
      ...(isLate && { state: 'late', since_ms: toServiceTime(lateSinceMs) }),
    } satisfies LiveNotice)
    if (text === this.#lastText) return
    this.#lastText = text
    this.#page.send(text)
  }

  end(error?: LiveError): void {
    if (this.#isOver) return
    this.#flush()
    this.#page.notify({ t: 'end', id: this.#id, ...(error && { error }) })
    this.#page.forget(this.#id)
  }

  /** Drops pending items. */
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

import { health } from '#lib/contract/health.ts'
import { registry } from '../registry/registry.ts'
import { syncServiceClock } from '../upstream/clock.ts'

export const monitorTimes = {
  /** After so long without a sign of life the service is asked for one. */
  quietMs: 4_000,
  /** What has not answered by then is late. */
  answerMs: 4_000,
}

/** Asks the service for a sign of life. Any answer at all is one; rejects where none comes within `withinMs`. */
export const checkHealth = async (withinMs: number, signal?: AbortSignal): Promise<Response> => {
  const answer = await fetch(registry().service.url() + health.check.path, {
    signal: AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(withinMs)]),
    redirect: 'manual',
    cache: 'no-store',
  })
  await answer.body?.cancel()
  return answer
}

export interface MonitorListener {
  /** The service has become late, or is heard again. */
  pulseChanged(): void
}

/**
 * Whether the service shows any sign of life, for as long as someone listens. A service that is frozen keeps its
 * connections, and its streams may be quiet for good reasons: so it is asked when nothing was heard for a while. Any
 * answer at all is a sign, as another service of the contract may not know the question.
 */
export class ServiceMonitor {
  readonly #times: typeof monitorTimes
  readonly #listeners = new Set<MonitorListener>()
  #heardMs = 0
  #lateSinceMs: number | undefined
  #timer: NodeJS.Timeout | undefined
  #asking = new AbortController()

  constructor(times: typeof monitorTimes = monitorTimes) {
    this.#times = times
  }

  /** Since when nothing was heard; undefined while the service is in time. */
  get lateSinceMs(): number | undefined {
    return this.#lateSinceMs
  }

  /** Tells `listener` what changes until it leaves. */
  listen(listener: MonitorListener): void {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) this.#askAfter(0)
  }

  leave(listener: MonitorListener): void {
    this.#listeners.delete(listener)
    if (this.#listeners.size > 0) return
    clearTimeout(this.#timer)
    this.#asking.abort()
    this.#lateSinceMs = undefined
  }

  /** To be called with everything that comes from the service. */
  heard(): void {
    this.#heardMs = Date.now()
    if (this.#lateSinceMs !== undefined) this.#set(undefined)
  }

  #askAfter(ms: number): void {
    this.#timer = setTimeout(() => {
      const quietForMs = Date.now() - this.#heardMs
      if (quietForMs < this.#times.quietMs) this.#askAfter(this.#times.quietMs - quietForMs)
      else void this.#ask()
    }, ms)
  }

  async #ask(): Promise<void> {
    const asking = new AbortController()
    this.#asking = asking
    const askedMs = Date.now()
    try {
      syncServiceClock(await checkHealth(this.#times.answerMs, asking.signal), askedMs)
      this.heard()
    } catch {
      // It makes no difference whether it was refused, cut or too late, as long as nothing else was heard meanwhile.
      if (asking.signal.aborted) return
      if (this.#heardMs < askedMs) this.#set(this.#heardMs || askedMs)
    }
    if (asking.signal.aborted) return
    this.#askAfter(this.#lateSinceMs === undefined ? this.#times.quietMs : this.#times.quietMs / 4)
  }

  #set(lateSinceMs: number | undefined): void {
    if (this.#lateSinceMs === lateSinceMs) return
    this.#lateSinceMs = lateSinceMs
    for (const listener of this.#listeners) listener.pulseChanged()
  }
}

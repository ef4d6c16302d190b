import { accounts } from '#lib/contract/accounts.ts'
import { health } from '#lib/contract/health.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { registry } from '../registry/registry.ts'
import { lacks, noteMissing } from '../support/service-support.ts'
import { bearer } from '../upstream/client.ts'
import { syncServiceClock } from '../upstream/clock.ts'

export const monitorTimes = {
  /** The service is checked after this much silence. */
  quietMs: 4_000,
  /** Response timeout, after which the service is late. */
  answerMs: 4_000,
}

/** Resolves on any response; rejects if none arrives in time. */
export const checkHealth = async (holder: KeyHolder, withinMs: number, signal?: AbortSignal): Promise<Response> => {
  const hasHealth = !lacks(holder, health.check)
  const { path } = hasHealth ? health.check : accounts.me
  const answer = await fetch(registry().service.url() + path, {
    headers: hasHealth ? {} : bearer(holder.api_key),
    signal: AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(withinMs)]),
    redirect: 'manual',
    cache: 'no-store',
  })
  await answer.body?.cancel()
  if (hasHealth && [401, 404, 405].includes(answer.status)) noteMissing(holder, health.check)
  return answer
}

export interface MonitorListener {
  readonly session: KeyHolder
  pulseChanged(): void
}

// Monitors whether the service responds, while anyone listens. A frozen service keeps its connections open and quiet
// streams are normal, so it is polled after silence. Any response counts. For services without a health check, the
// account is read instead.
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

  get lateSinceMs(): number | undefined {
    return this.#lateSinceMs
  }

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

  heard(): void {
    this.#heardMs = Date.now()
    if (this.#lateSinceMs !== undefined) this.#set(undefined)
  }

  #askAfter(ms: number): void {
    this.#timer = setTimeout(() => {
      const quietForMs = Date.now() - this.#heardMs
      if (quietForMs < this.#quietMs) this.#askAfter(this.#quietMs - quietForMs)
      else void this.#ask()
    }, ms)
  }

  /** Requests are sent as the first listener's account. */
  get #holder(): KeyHolder | undefined {
    return this.#listeners.values().next().value?.session
  }

  /** Longer for a service without a health check, whose account is read instead. */
  get #quietMs(): number {
    const holder = this.#holder
    return holder && lacks(holder, health.check) ? this.#times.quietMs * 4 : this.#times.quietMs
  }

  async #ask(): Promise<void> {
    const holder = this.#holder
    if (!holder) return
    const asking = new AbortController()
    this.#asking = asking
    const askedMs = Date.now()
    try {
      syncServiceClock(await checkHealth(holder, this.#times.answerMs, asking.signal), askedMs)
      this.heard()
    } catch {
      // Any failure counts as silence, unless something else arrived meanwhile.
      if (asking.signal.aborted) return
      if (this.#heardMs < askedMs) this.#set(this.#heardMs || askedMs)
    }
    if (asking.signal.aborted) return
    this.#askAfter(this.#lateSinceMs === undefined ? this.#quietMs : this.#times.quietMs / 4)
  }

  #set(lateSinceMs: number | undefined): void {
    if (this.#lateSinceMs === lateSinceMs) return
    this.#lateSinceMs = lateSinceMs
    for (const listener of this.#listeners) listener.pulseChanged()
  }
}

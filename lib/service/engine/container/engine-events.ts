import { setTimeout as delay } from 'node:timers/promises'
import type { EngineApi } from './engine-api.ts'
import { jsonLines } from './json-lines.ts'

export interface ContainerEvent {
  containerId: string
  action: string
  attributes: Readonly<Record<string, string>>
}

interface Handlers {
  event(event: ContainerEvent): void
  /** Called at every connection, before its events. A rejection counts as a failed connection. */
  connected(): Promise<void>
  /** The engine can't be reached at the start, or since `graceMs`. */
  lost(problem: string): void
}

const graceMs = 5000
const pingMs = 10_000
const firstRetryMs = 100
const maxRetryMs = 2000

/** Follows the events of a service's containers, and reconnects until `close` is called. */
export const followEvents = (api: EngineApi, serviceId: string, handlers: Handlers) => {
  const closed = new AbortController()
  const first = Promise.withResolvers<void>()
  let lastUpMs = 0
  let isLost = false
  let retryMs = firstRetryMs

  const follow = async (): Promise<never> => {
    const broken = new AbortController()
    const filters = { type: ['container'], label: [`devdeck.service=${serviceId}`] }
    const signal = AbortSignal.any([broken.signal, closed.signal])
    const stream = await api.stream('GET', '/events', { query: { filters }, signal, timeoutMs: pingMs })
    // A remote engine may vanish without closing the connection.
    const check = () => void api.json('GET', '/_ping', { timeoutMs: pingMs }).catch(() => broken.abort())
    const timer = setInterval(check, pingMs).unref()
    try {
      await handlers.connected()
      isLost = false
      retryMs = firstRetryMs
      first.resolve()
      for await (const { Action, Actor } of jsonLines<EngineEvent>(stream))
        handlers.event({ containerId: Actor.ID, action: Action, attributes: Actor.Attributes })
      throw api.unavailable('closed the connection')
    } finally {
      if (!isLost) lastUpMs = Date.now()
      clearInterval(timer)
      stream.destroy()
    }
  }

  const run = async () => {
    while (!closed.signal.aborted) {
      const problem = await follow().catch((error: Error) => error.message)
      if (closed.signal.aborted) return
      first.reject(new Error(problem))
      if (!isLost && Date.now() - lastUpMs >= graceMs) {
        isLost = true
        handlers.lost(problem)
      }
      await delay(retryMs, undefined, { ref: false })
      retryMs = Math.min(2 * retryMs, maxRetryMs)
    }
  }
  first.promise.catch(() => undefined)
  void run()
  return {
    /** Settles with the first connection attempt. */
    connected: first.promise,
    close: () => closed.abort(),
  }
}

interface EngineEvent {
  Action: string
  Actor: { ID: string; Attributes: Record<string, string> }
}

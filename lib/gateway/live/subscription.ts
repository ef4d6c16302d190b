import { ApiError, isFinal } from '#lib/client/api-error.ts'
import { type Backoff, backoffMs, pause } from '#lib/client/backoff.ts'
import { type Client, createClient } from '#lib/client/client.ts'
import type { LiveError, LiveTopic } from '#lib/protocol/live.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { maskingFetch } from '../proxy/masking.ts'
import { registry } from '../registry/registry.ts'
import { bearer, onKeyAccepted } from '../upstream/client.ts'
import { serviceNow, syncServiceClock } from '../upstream/clock.ts'
import type { Topic } from './topics.ts'

export const subscriptionTimes = {
  firstMs: 250,
  maxMs: 10_000,
  /** An embedded service has one client and restarts within seconds. */
  maxEmbeddedMs: 2_000,
  maxRetryAfterMs: 300_000,
  connectMs: 15_000,
  /** A silent stream may be dead; it is reopened at its position. */
  silenceMs: 60_000,
  /** After a connection of this length, backoff starts over. */
  heldMs: 5_000,
}

/** Receives the items of one subscription. */
export interface Subscriber {
  data(text: string, position: string): void
  /** Resolves when the page has room or unsubscribes; undefined while there is room. */
  room(): Promise<void> | undefined
  resync(position: string): void
  state(state: 'live' | 'lost', error?: LiveError): void
  end(error?: LiveError): void
}

interface Subscription {
  session: KeyHolder
  topic: Topic
  asked: Pick<LiveTopic, 'params' | 'query'>
  position: string | undefined
  outlet: Subscriber
  opened?: (response: Response) => void
  heard?: () => void
  unreadable?: () => void
  /** Retries rejections, which otherwise end the subscription. Aborting `wake()` ends a wait. */
  retry?: { refused: Backoff; wake(): AbortSignal }
  signal: AbortSignal
  times?: typeof subscriptionTimes
}

/** Follows one topic through interruptions until it ends or `signal` aborts. Never rejects. */
export const subscribe = async (subscription: Subscription): Promise<void> => {
  const { topic, asked, outlet, opened, heard, unreadable, retry, signal, times = subscriptionTimes } = subscription
  const maxMs = registry().service.embedded ? times.maxEmbeddedMs : times.maxMs
  let { position } = subscription
  for (let attempt = 0; !signal.aborted; ) {
    const ending = new AbortController()
    let isSilent = false
    let openedMs = Number.POSITIVE_INFINITY
    const client = watchedClient(subscription.session, ending.signal, times.connectMs, {
      opened: (response) => {
        openedMs = Date.now()
        opened?.(response)
        outlet.state('live')
      },
      heard: () => {
        heard?.()
        silence.refresh()
      },
      unreadable,
    })
    const silence = setTimeout(() => {
      isSilent = true
      ending.abort()
    }, times.silenceMs)
    try {
      const { params, query } = asked as { params: never; query: never }
      const steps = topic.read({
        client,
        holder: subscription.session,
        params,
        query,
        position,
        signal: AbortSignal.any([signal, ending.signal]),
      })
      for await (const step of steps) {
        if ('resync' in step) {
          position = step.resync || undefined
          outlet.resync(step.resync)
          continue
        }
        position = step.position
        outlet.data(step.text, step.position)
        // Backpressure: unread data stays with the service.
        await outlet.room()
        silence.refresh()
      }
      // A stream cut for silence may look finished.
      if (!isSilent) return signal.aborted ? undefined : outlet.end()
    } catch (error) {
      if (signal.aborted) return
      const isRefusal = isFinal(error)
      if (isRefusal && !retry) return outlet.end(liveError(error))
      // A timeout only signals inactivity or a service restart.
      if (isSilent || (error instanceof ApiError && error.code === 'timeout')) {
        await pause(times.firstMs, signal)
        continue
      }
      if (Date.now() - openedMs > Math.min(maxMs, times.heldMs)) attempt = 0
      const backMs = backoffMs(attempt++, isRefusal && retry ? retry.refused : { firstMs: times.firstMs, maxMs })
      const wantedMs = Math.min((error instanceof ApiError && error.retryAfterMs) || 0, times.maxRetryAfterMs)
      const waitMs = Math.max(backMs, wantedMs)
      outlet.state('lost', { ...liveError(error), ...(wantedMs > 0 && { retry_at_ms: serviceNow() + waitMs }) })
      await pause(waitMs, retry ? AbortSignal.any([signal, retry.wake()]) : signal)
    } finally {
      clearTimeout(silence)
      ending.abort()
    }
  }
}

const watchedClient = (
  { account, api_key }: KeyHolder,
  signal: AbortSignal,
  connectMs: number,
  {
    opened,
    heard,
    unreadable,
  }: Required<Pick<Subscription, 'opened' | 'heard'>> & { unreadable: (() => void) | undefined },
): Client =>
  createClient({
    baseUrl: registry().service.url(),
    headers: bearer(api_key),
    ...(unreadable && { onUnreadable: unreadable }),
    fetch: maskingFetch(account.id)(async (input, init) => {
      const late = new AbortController()
      const timer = setTimeout(() => late.abort(), connectMs)
      const askedMs = Date.now()
      const signals = [signal, late.signal, ...(init?.signal ? [init.signal] : [])]
      const response = await fetch(input, { ...init, signal: AbortSignal.any(signals) }).finally(() =>
        clearTimeout(timer),
      )
      syncServiceClock(response, askedMs)
      heard()
      if (!response.ok || !response.body) return response
      const type = response.headers.get('content-type') ?? 'no type'
      const isStream = type.startsWith('text/event-stream')
      if (new Headers(init?.headers).get('accept') === 'text/event-stream' && !isStream)
        throw new Error(`The response is ${type} instead of an event stream, so this is not the service`)
      opened(response)
      onKeyAccepted(api_key)
      const listening = new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          heard()
          controller.enqueue(chunk)
        },
      })
      return new Response(response.body.pipeThrough(listening), response)
    }),
  })

const liveError = (error: unknown): LiveError =>
  error instanceof ApiError
    ? {
        code: error.code,
        status: error.status,
        message: error.message,
        ...(error.requestId === undefined ? {} : { request_id: error.requestId }),
      }
    : { code: 'unreachable', status: 0, message: "The service's stream was interrupted" }

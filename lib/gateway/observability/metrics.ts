import diagnostics from 'node:diagnostics_channel'
import { accessSync, constants } from 'node:fs'
import { Counter, Gauge, Histogram } from 'prom-client'
import { createMetrics, type MetricsServer, type Readiness, startMetricsServer } from '#lib/metrics/metrics-server.ts'
import { alerts } from '../alerts/alert-books.ts'
import { inFlight } from '../limits/concurrency-limit.ts'
import { registry, type ServiceAddress } from '../registry/registry.ts'
import { currentStore } from '../store/current-store.ts'
import { terminals } from '../terminals/registry.ts'
import type { Observed } from './request-log.ts'

const upstreamTimeoutMs = 5_000

/** Serves the console's metrics if DEVDECK_METRICS_PORT is set. Returns what requests are reported to. */
export const startMetrics = async (): Promise<
  { server: MetricsServer; observe: (observed: Observed) => void } | undefined
> => {
  const { config, service } = registry()
  if (!config.metrics) return undefined
  const { registry: metrics, requests } = createMetrics('devdeck_console')
  const gauge = <L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    collect: (gauge: Gauge<L>) => unknown,
  ) =>
    new Gauge({
      name: `devdeck_console_${name}`,
      help,
      labelNames,
      registers: [metrics],
      collect() {
        this.reset()
        collect(this)
      },
    })
  gauge('requests_in_flight', 'Requests, streams and live connections of all accounts, by kind.', ['kind'], (each) => {
    for (const [key, count] of inFlight()) each.inc({ kind: key.split(' ')[0] ?? key }, count)
  })
  gauge('terminals', 'Terminals that the console holds for its pages.', [], (each) => each.set(terminals().size))
  gauge('alerts_open', 'Alerts that have not ended, by kind.', ['kind'], (each) => {
    for (const { kind, total } of alerts().store.countOpen()) each.set({ kind }, total)
  })
  gauge('alert_messages_waiting', 'Messages to receivers that have not been accepted.', [], (each) =>
    each.set(alerts().store.outbox.countWaiting()),
  )
  const stopObserving = observeUpstream(
    service,
    new Histogram({
      name: 'devdeck_console_upstream_duration_seconds',
      help: "Time until the headers of the service's response.",
      labelNames: ['method', 'status'],
      buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
      registers: [metrics],
    }),
    new Counter({
      name: 'devdeck_console_upstream_errors_total',
      help: 'Requests to the service that got no response.',
      registers: [metrics],
    }),
  )
  const { port, close } = await startMetricsServer(config.metrics, metrics, readiness)
  return {
    server: {
      port,
      close: () => {
        stopObserving()
        return close()
      },
    },
    observe: ({ area, status, durationMs }) => requests.observe({ operation: area, status }, durationMs / 1000),
  }
}

const readiness = async (): Promise<Readiness> => {
  const { config, service } = registry()
  return {
    data_folder: failure(() => accessSync(config.dataDir, constants.R_OK | constants.W_OK)),
    alerts: alerts().store.problem ?? undefined,
    ...(config.store && { store: currentStore()?.problem }),
    service: await upstreamProblem(service.url()),
  }
}

const failure = (work: () => void): string | undefined => {
  try {
    work()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** Any response below 500 shows that the service works, including one that requires a key. */
const upstreamProblem = async (url: string): Promise<string | undefined> => {
  try {
    const response = await fetch(`${url}/v1/accounts/me`, { signal: AbortSignal.timeout(upstreamTimeoutMs) })
    await response.body?.cancel()
    return response.status < 500 ? undefined : `the service returned ${response.status}`
  } catch (error) {
    const { message, cause } = error as Error
    return cause instanceof Error ? cause.message : message
  }
}

/** undici reports every request of the process, including those of code that Next bundles. Returns how to stop. */
const observeUpstream = (
  service: ServiceAddress,
  durations: Histogram<'method' | 'status'>,
  errors: Counter,
): (() => void) => {
  const startedMs = new WeakMap<object, number>()
  const isOurs = ({ request }: Created) => String(request.origin) === new URL(service.url()).origin
  const listeners: Record<string, diagnostics.ChannelListener> = {
    'undici:request:create': (message) => {
      const event = message as Created
      if (isOurs(event)) startedMs.set(event.request, performance.now())
    },
    'undici:request:headers': (message) => {
      const { request, response } = message as {
        request: { origin: unknown; method: string }
        response: { statusCode: number }
      }
      const started = startedMs.get(request)
      if (started !== undefined)
        durations.observe({ method: request.method, status: response.statusCode }, (performance.now() - started) / 1000)
      startedMs.delete(request)
    },
    'undici:request:error': (message) => {
      const { request } = message as { request: object }
      if (startedMs.delete(request)) errors.inc()
    },
  }
  for (const [channel, listener] of Object.entries(listeners)) diagnostics.subscribe(channel, listener)
  return () => {
    for (const [channel, listener] of Object.entries(listeners)) diagnostics.unsubscribe(channel, listener)
  }
}

interface Created {
  request: { origin: unknown }
}

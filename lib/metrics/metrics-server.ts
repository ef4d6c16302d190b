import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'

/** Why a process can't work, by what was checked; undefined: it can. */
export type Readiness = Record<string, string | undefined>

export interface MetricsServer {
  port: number
  close: () => Promise<void>
}

/** A registry with the metrics of the process and the durations of its HTTP requests. */
export const createMetrics = (prefix: string) => {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: `${prefix}_http_request_duration_seconds`,
    help: 'Time until an HTTP response was sent, or its client disconnected. Without event streams and WebSockets.',
    labelNames: ['operation', 'status'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers: [registry],
  })
  return { registry, requests }
}

/** Serves `/metrics` for Prometheus, `/healthz` (the process runs) and `/readyz` (it can work) on a port of its own. */
export const startMetricsServer = async (
  { host, port }: { host: string; port: number },
  registry: Registry,
  readiness: () => Promise<Readiness>,
): Promise<MetricsServer> => {
  const server = createServer((request, response) => {
    const send = (status: number, body: string, type = 'application/json') =>
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
    const respond = async () => {
      const [path] = (request.url ?? '/').split('?')
      if (request.method !== 'GET' && request.method !== 'HEAD') return send(405, '{"message":"Use GET"}')
      if (path === '/metrics') return send(200, await registry.metrics(), registry.contentType)
      if (path === '/healthz') return send(200, '{"status":"ok"}')
      if (path !== '/readyz') return send(404, '{"message":"Use /metrics, /healthz or /readyz"}')
      const checks = await readiness()
      const isReady = Object.values(checks).every((problem) => problem === undefined)
      const shown = Object.entries(checks).map(([name, problem]) => [name, problem ?? 'ok'])
      return send(
        isReady ? 200 : 503,
        JSON.stringify({ status: isReady ? 'ready' : 'not ready', ...Object.fromEntries(shown) }),
      )
    }
    respond().catch((error: Error) => send(500, JSON.stringify({ message: error.message })))
  })
  server.listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

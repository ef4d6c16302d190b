import { once } from 'node:events'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { endStreams, openStreams } from './accounts/open-streams.ts'
import { type Config, ownOrigins } from './config.ts'
import { guardRequest, onClientError, serializePipelinedRequests, serverOptions } from './http/request-guards.ts'
import { socketUpgrades } from './http/upgrades.ts'
import { handleAsWebRequest } from './http/web-request.ts'
import { limitUnauthenticatedConnections, reserveFileDescriptors } from './limits/connection-limit.ts'
import { liveSocket } from './live/live-page.ts'
import { checkSocket } from './live/self-check.ts'
import { type monitorTimes, ServiceMonitor } from './live/service-monitor.ts'
import { acceptsForm } from './proxy/target.ts'
import {
  closeSlots,
  createRegistry,
  type Registry,
  registry,
  type ServiceAddress,
  setRegistry,
} from './registry/registry.ts'
import { shareHeaders } from './shares/opened-share.ts'
import { terminalSockets } from './terminals/bridge.ts'

export interface TestConsole {
  url: string
  origin: string
  registry: Registry
  openStreams: () => ReturnType<typeof openStreams>
  /** Sends a request as a page of the console would: same origin, with the given cookie. */
  fetch: (path: string, init?: RequestInit & { cookie?: string }) => Promise<Response>
  /** Calls an endpoint with JSON and returns the parsed response. */
  // biome-ignore lint/suspicious/noExplicitAny: tests assert the shape
  ask: (cookie: string, method: string, path: string, body?: unknown) => Promise<{ status: number; body: any }>
  /** Signs in, replacing the session of cookie `before`, and returns the new cookie. */
  signIn: (key: string, before?: string) => Promise<string>
  close: () => Promise<void>
}

/** An HTTP server, such as a scripted service, by default on a free port. */
export const startServer = async (listener: RequestListener, port = 0) => {
  const server = createServer(listener).listen(port, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

/** The console's server without its pages. */
export const startConsole = async (
  service: { url: string; ownKey?: string; operatorToken?: () => string | undefined },
  overrides: Partial<Config> = {},
  times?: typeof monitorTimes,
): Promise<TestConsole> => {
  const config: Config = {
    port: 0,
    host: '127.0.0.1',
    serviceUrl: service.url,
    serviceId: undefined,
    servicePort: undefined,
    serviceFlags: [],
    store: undefined,
    dataDir: mkdtempSync(join(tmpdir(), 'devdeck-console-')),
    sessionSecrets: ['a secret of at least thirty-two characters'],
    publicOrigins: [],
    webhook: undefined,
    receivers: { inFile: [], areForAccounts: false, arePrivateAllowed: true },
    signOn: undefined,
    roles: undefined,
    isSignOnOnly: false,
    logFormat: 'text',
    logRequests: false,
    metrics: undefined,
    areSharesEnabled: true,
    pushServices: [],
    terminalGraceMs: 600_000,
    isTrustedProxy: () => false,
    bodyStillMs: 30_000,
    ...overrides,
  }
  const server = createServer(serverOptions, (request, response) =>
    serializePipelinedRequests(request, response, () => {
      if (guardRequest(request, response, { dev: false, acceptsForm, publicHeaders: shareHeaders }))
        void handleAsWebRequest(request, response, route)
    }),
  )
  reserveFileDescriptors(server)
  server.on('clientError', onClientError)
  server.on('upgrade', socketUpgrades([checkSocket, ...terminalSockets, liveSocket(new ServiceMonitor(times))]))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const address: ServiceAddress = {
    embedded: service.ownKey !== undefined,
    url: () => service.url,
    ownKey: () => service.ownKey,
    operatorToken: () => service.operatorToken?.(),
  }
  const previous = setRegistry(undefined)
  createRegistry({ config, port, origins: ownOrigins(config, port), service: address })
  limitUnauthenticatedConnections(server)
  const url = `http://127.0.0.1:${port}`
  const fetchAsPage: TestConsole['fetch'] = (path, { cookie, ...init } = {}) => {
    const headers = new Headers(init.headers)
    if (!headers.has('sec-fetch-site')) headers.set('sec-fetch-site', 'same-origin')
    if (!headers.has('origin') && init.method && init.method !== 'GET') headers.set('origin', url)
    if (cookie) headers.set('cookie', cookie)
    return fetch(url + path, { redirect: 'manual', ...init, headers })
  }
  const own = registry()
  return {
    url,
    origin: url,
    registry: own,
    openStreams: () => openStreams(own),
    fetch: fetchAsPage,
    ask: async (cookie, method, path, body) => {
      const response = await fetchAsPage(path, { cookie, ...jsonInit(method, body) })
      const text = await response.text()
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
    },
    signIn: async (apiKey, before = '') => {
      const init = { cookie: before, ...jsonInit('POST', { api_key: apiKey }) }
      const response = await fetchAsPage('/api/session', init)
      if (!response.ok) throw new Error(`Sign-in failed with ${response.status}: ${await response.text()}`)
      return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    },
    close: async () => {
      await stop(server)
      if (overrides.dataDir === undefined) rmSync(config.dataDir, { recursive: true, force: true })
      // A test may run a second console for a moment.
      setRegistry(previous)
    },
  }
}

const jsonInit = (method: string, body: unknown): RequestInit =>
  body === undefined
    ? { method }
    : { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }

const stop = async (server: Server): Promise<void> => {
  endStreams('restarting')
  closeSlots()
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
  // WebSockets close some ticks after the server, and their handlers need the registry.
  while (openStreams().size > 0) await setImmediate()
  // A late request may have opened a database again.
  closeSlots()
}

type Handler = (request: Request, context: { params: Promise<Record<string, string>> }) => Promise<Response>

const appFolder = join(import.meta.dirname, '../../app')

/** Next's route handlers, most specific path first. */
const routes = globSync('**/route.ts', { cwd: appFolder })
  .sort((a, b) => (a.replaceAll('[', '~') < b.replaceAll('[', '~') ? -1 : 1))
  .map((file) => {
    const pattern = dirname(file)
      .replace(/\/\[\[\.\.\.(\w+)\]\]/, '(?:/(?<$1>.*))?')
      .replace(/\[\.\.\.(\w+)\]/, '(?<$1>.+)')
      .replace(/\[(\w+)\]/g, '(?<$1>[^/]+)')
    return { file: join(appFolder, file), path: new RegExp(`^/${pattern}$`) }
  })

const route = async (request: Request): Promise<Response> => {
  const { pathname } = new URL(request.url)
  for (const { file, path } of routes) {
    const match = path.exec(pathname)
    if (!match) continue
    const handlers: Record<string, Handler | undefined> = await import(/* @vite-ignore */ file)
    const params = Object.entries(match.groups ?? {}).map(([name, value = '']) => [name, decodeURIComponent(value)])
    const handler = handlers[request.method === 'HEAD' ? 'GET' : request.method]
    return (
      handler?.(request, { params: Promise.resolve(Object.fromEntries(params)) }) ?? new Response(null, { status: 405 })
    )
  }
  return new Response('not found', { status: 404 })
}

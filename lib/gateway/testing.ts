import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { checkSocketPath } from '#lib/protocol/connection.ts'
import { closeRevokedSessions } from './accounts/session-cookie.ts'
import { followSignInLink, signIn, signOut, switchAccount, whoIsSignedIn } from './accounts/sign-in.ts'
import { beginSignOn, finishSignOn } from './accounts/single-sign-on.ts'
import { closeActivity, handleActivity } from './activity/activity.ts'
import { closeAlerts } from './alerts/alert-books.ts'
import { relayEvictions } from './alerts/relay.ts'
import { handleAlerts } from './alerts/routes.ts'
import { type Config, ownOrigins } from './config.ts'
import { onClientError } from './http/conflicting-cookies.ts'
import { admit, serializePipelinedRequests, serverOptions } from './http/request-guards.ts'
import { socketUpgrades } from './http/upgrades.ts'
import { handleAsWebRequest } from './http/web-request.ts'
import { limitUnauthenticatedConnections, reserveFileDescriptors } from './limits/connection-limit.ts'
import { liveSnapshot } from './live/live-snapshot.ts'
import { liveSocket } from './live/live-socket.ts'
import { checkSocket, checkStream, connectionView, plainRequest } from './live/self-check.ts'
import { type monitorTimes, ServiceMonitor } from './live/service-monitor.ts'
import { getRunLogFile, getScenarioRunLogFile, listRunLogs } from './logs/run-logs.ts'
import { revealValue } from './proxy/masking.ts'
import { proxy } from './proxy/proxy.ts'
import { acceptsForm } from './proxy/target.ts'
import { createRegistry, endStreams, type Registry, registry, type ServiceAddress } from './registry/registry.ts'
import { compareReport } from './reports/compare-report.ts'
import { jobReport } from './reports/job-report.ts'
import { trendReport } from './reports/trend-report.ts'
import { terminalSockets } from './terminals/bridge.ts'
import { followView } from './terminals/follow.ts'
import { closeTerminal, listTerminals } from './terminals/held.ts'
import { deleteRecording, getRecording, listRecordings } from './terminals/recordings.ts'

const key = Symbol.for('devdeck.registry')
const holder = globalThis as { [key]?: Registry | undefined }

export interface TestConsole {
  url: string
  origin: string
  registry: Registry
  /** A request as a page of the console sends it: same origin, with the cookie if one is given. */
  fetch: (path: string, init?: RequestInit & { cookie?: string }) => Promise<Response>
  /** Signs in, in place of whom the browser had a cookie of, and returns the cookie as a browser sends it back. */
  signIn: (key: string, before?: string) => Promise<string>
  close: () => Promise<void>
}

/** The gateway behind a plain HTTP server: all of the console's server but the pages. */
export const startConsole = async (
  service: { url: string; ownKey?: string },
  overrides: Partial<Config> = {},
  pulse?: typeof monitorTimes,
): Promise<TestConsole> => {
  const config: Config = {
    port: 0,
    host: '127.0.0.1',
    serviceUrl: service.url,
    servicePort: undefined,
    maxStorage: undefined,
    dataDir: mkdtempSync(join(tmpdir(), 'devdeck-console-')),
    sessionSecrets: ['a secret of at least thirty-two characters'],
    publicOrigins: [],
    webhook: undefined,
    signOn: undefined,
    terminalGraceMs: 600_000,
    isTrustedProxy: () => false,
    bodyStillMs: 30_000,
    ...overrides,
  }
  const server = createServer(serverOptions, (request, response) => void answer(request, response))
  reserveFileDescriptors(server)
  server.on('clientError', onClientError)
  server.on('upgrade', socketUpgrades([checkSocket, ...terminalSockets, liveSocket(new ServiceMonitor(pulse))]))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const address: ServiceAddress = {
    embedded: service.ownKey !== undefined,
    url: () => service.url,
    ownKey: () => service.ownKey,
  }
  const before = holder[key]
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
  return {
    url,
    origin: url,
    registry: registry(),
    fetch: fetchAsPage,
    signIn: async (apiKey, before) => {
      const response = await fetchAsPage('/api/session', {
        method: 'POST',
        ...(before !== undefined && { cookie: before }),
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ api_key: apiKey }),
      })
      if (!response.ok) throw new Error(`Sign-in answered ${response.status}: ${await response.text()}`)
      return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    },
    close: async () => {
      await stop(server)
      registry().logArchives?.close()
      closeRevokedSessions()
      if (overrides.dataDir === undefined) rmSync(config.dataDir, { recursive: true, force: true })
      // A test may run a second console for a moment.
      holder[key] = before
    },
  }
}

const stop = async (server: Server): Promise<void> => {
  endStreams('restarting')
  closeAlerts()
  closeActivity()
  for (const hub of [...registry().evictionHubs.values()]) hub.close()
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
  // WebSockets tell of their end some ticks after the server's; what they follow needs the registry until then.
  while (registry().openStreams.size > 0) await setImmediate()
}

const answer = (incoming: IncomingMessage, outgoing: ServerResponse): void =>
  serializePipelinedRequests(incoming, outgoing, () => {
    if (admit(incoming, outgoing, { dev: false, acceptsForm })) void handleAsWebRequest(incoming, outgoing, route)
  })

const route = async (request: Request): Promise<Response> => {
  const { pathname } = new URL(request.url)
  if (pathname.startsWith('/api/v1/')) return proxy(request)
  if (pathname === '/api/connection') return connectionView(request)
  if (pathname === '/api/connection/stream') return checkStream(request)
  if (pathname === '/api/live' || pathname === checkSocketPath) return plainRequest(request)
  if (pathname === '/api/live/now') return liveSnapshot(request)
  if (pathname === '/api/reveal') return revealValue(request)
  if (pathname === '/api/evictions') return relayEvictions(request)
  if (/^\/api\/alerts(\/|$)/.test(pathname)) return handleAlerts(request)
  if (pathname === '/api/activity') return handleActivity(request)
  if (pathname === '/api/recordings') return listRecordings(request)
  const recording = /^\/api\/recordings\/([^/]+)$/.exec(pathname)?.[1]
  if (recording !== undefined)
    return (request.method === 'DELETE' ? deleteRecording : getRecording)(request, decodeURIComponent(recording))
  const [, api, area, id = '', name] = pathname.split('/')
  if (pathname === '/api/benchmark-jobs/compare') return compareReport(request)
  if (pathname === '/api/benchmark-jobs/trend') return trendReport(request)
  if (api === 'api' && area === 'benchmark-jobs' && name === 'report') return jobReport(request, id)
  const ofRun = /^\/api\/benchmark-runs\/([^/]+)\/logs(\/file)?$/.exec(pathname)
  if (ofRun) return (ofRun[2] ? getRunLogFile : listRunLogs)(request, decodeURIComponent(ofRun[1] ?? ''))
  const ofScenarioRun = /^\/api\/scenario-runs\/([^/]+)\/logs\/file$/.exec(pathname)?.[1]
  if (ofScenarioRun !== undefined) return getScenarioRunLogFile(request, decodeURIComponent(ofScenarioRun))
  if (api === 'api' && area === 'follow') return followView(request, id)
  if (api === 'api' && area === 'terminals')
    return name === undefined ? listTerminals(request, id) : closeTerminal(request, id, name)
  if (pathname === '/sign-in/sso') return beginSignOn(request)
  if (pathname === '/sign-in/sso/callback') return finishSignOn(request)
  if (pathname.startsWith('/sign-in/')) return followSignInLink(request, pathname.slice('/sign-in/'.length))
  if (pathname !== '/api/session') return new Response('not found', { status: 404 })
  if (request.method === 'POST') return signIn(request)
  if (request.method === 'PUT') return switchAccount(request)
  return request.method === 'DELETE' ? signOut(request) : whoIsSignedIn(request)
}

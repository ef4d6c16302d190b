import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, closeSync, constants, existsSync, openSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Server as NetServer, Socket } from 'node:net'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { endStreams, restartStreams } from '#lib/gateway/accounts/open-streams.ts'
import { newSignInPath, signInLinkMinutes } from '#lib/gateway/accounts/sign-in.ts'
import { dropAlertBooks, startReceivers, stopReceivers } from '#lib/gateway/alerts/alert-books.ts'
import { apiProxy } from '#lib/gateway/api-proxy.ts'
import { type Config, ConfigError, ownOrigins, readConfig, secretVariables } from '#lib/gateway/config.ts'
import { startEmbeddedService } from '#lib/gateway/embedded-service.ts'
import { listenOnOtherLoopback } from '#lib/gateway/http/loopback.ts'
import { precompressedFiles } from '#lib/gateway/http/precompressed-files.ts'
import {
  guardRequest,
  onClientError,
  serializePipelinedRequests,
  serverOptions,
} from '#lib/gateway/http/request-guards.ts'
import { socketUpgrades } from '#lib/gateway/http/upgrades.ts'
import { handleAsWebRequest } from '#lib/gateway/http/web-request.ts'
import { limitUnauthenticatedConnections, reserveFileDescriptors } from '#lib/gateway/limits/connection-limit.ts'
import { liveSocket } from '#lib/gateway/live/live-page.ts'
import { checkSocket } from '#lib/gateway/live/self-check.ts'
import { startMetrics } from '#lib/gateway/observability/metrics.ts'
import { logRequest, observeRequest } from '#lib/gateway/observability/request-log.ts'
import { acceptsForm, acceptsLargeBody } from '#lib/gateway/proxy/target.ts'
import { pushKeys } from '#lib/gateway/push/push-keys.ts'
import { closeSlots, createRegistry, type ServiceAddress } from '#lib/gateway/registry/registry.ts'
import { shareHeaders } from '#lib/gateway/shares/opened-share.ts'
import { setCurrentStore } from '#lib/gateway/store/current-store.ts'
import { serveOrForward, upgradeOrForward } from '#lib/gateway/store/forward.ts'
import type { SharedStore } from '#lib/gateway/store/shared-store.ts'
import { terminalSockets } from '#lib/gateway/terminals/bridge.ts'
import { endTerminals } from '#lib/gateway/terminals/registry.ts'
import { isBuilt } from './scripts/source-hash.ts'
import { takeVariable } from './scripts/take-variable.ts'

const root = import.meta.dirname
const dev = process.argv.includes('--dev')
/** With the service's own shutdown, within the usual ten seconds. */
const drainMs = 8_000
// Removed from the environment before any child process could inherit them.
const apiKeys = takeVariable('DEVDECK_API_KEYS')
const secrets = Object.fromEntries(secretVariables.map((name) => [name, takeVariable(name)]))
// Next reads NODE_ENV on import, hence the late import below.
Object.assign(process.env, { NODE_ENV: dev ? 'development' : 'production', NEXT_TELEMETRY_DISABLED: '1' })
z.config(z.locales.en())

const start = async (): Promise<void> => {
  const config = readConfig({ ...process.env, ...secrets })
  const server = createServer(serverOptions)
  reserveFileDescriptors(server)
  server.on('connection', (socket: Socket) => connections.add(socket.once('close', () => connections.delete(socket))))
  server.on('clientError', onClientError)
  server.on('request', respondStarting)
  // First, so that a port conflict fails before anything is built or started. One of several consoles listens once it is
  // ready: until then, the proxy uses the others.
  const port = config.store ? config.port : await listen(server, config)
  const origins = ownOrigins(config, port)
  const address = config.publicOrigins[0] ?? origins[0] ?? ''

  const embedded =
    config.serviceUrl === undefined
      ? await startEmbeddedService(join(config.dataDir, 'service'), {
          apiKeys,
          port: config.servicePort,
          flags: config.serviceFlags,
          onProgress: (line) => {
            startProgress = line
          },
          onPlannedStop: () => void stop(0),
        })
      : undefined
  shutdownSteps.push(
    () => drain(server),
    () => embedded?.stop(),
  )
  const store = config.store && (await openStore(config.store))
  if (store) {
    if (!config.store?.hasOwnSecret)
      config.sessionSecrets[0] = await store.secret('session-secret', config.sessionSecrets[0])
    shutdownSteps.splice(1, 0, () => store.close())
  }
  createRegistry({ config, port, origins, service: embedded ?? externalService(config.serviceUrl ?? '') })
  if (store) Object.assign(pushKeys(), JSON.parse(await store.secret('push-keys', JSON.stringify(pushKeys()))))

  if (!dev) await buildIfStale(join(config.dataDir, 'build.log'))
  const { default: next } = await import('next')
  // Next listens for upgrades on the server it is given. This one never listens and receives only hot-reload upgrades,
  // so that all others go through our checks.
  const nextSide = createServer()
  const app = next({ dev, dir: root, hostname: config.host, port, httpServer: nextSide })
  await app.prepare()
  const handle = app.getRequestHandler()
  shutdownSteps.splice(1, 0, () => app.close())

  const servePrecompressed = dev ? undefined : precompressedFiles(join(root, '.next/packed'))
  server.off('request', respondStarting)
  // Not earlier: with an upgrade listener, Node would no longer reject upgrades that arrive during startup.
  limitUnauthenticatedConnections(server)
  const metrics = await startMetrics()
  shutdownSteps.splice(1, 0, () => metrics?.server.close())
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    if (metrics || config.logRequests)
      observeRequest(request, response, (observed) => {
        metrics?.observe(observed)
        if (config.logRequests) logRequest(observed)
      })
    if (!guardRequest(request, response, { dev, acceptsForm, publicHeaders: shareHeaders })) return
    if (store) void serveOrForward(store, request, response, () => serveHere(request, response))
    else serveHere(request, response)
  }
  const serveHere = (request: IncomingMessage, response: ServerResponse) => {
    if (acceptsLargeBody(request.method, request.url)) return void handleAsWebRequest(request, response, apiProxy)
    if (servePrecompressed?.(request, response)) return
    void handle(request, response)
  }
  server.on('request', (request, response) =>
    serializePipelinedRequests(request, response, () => serve(request, response)),
  )
  const upgrade = socketUpgrades(
    [checkSocket, ...terminalSockets, liveSocket()],
    dev ? (request, socket, head) => nextSide.emit('upgrade', request, socket, head) : undefined,
  )
  server.on('upgrade', (request, socket, head) => {
    if (store) void upgradeOrForward(store, request, socket, head, () => upgrade(request, socket, head))
    else upgrade(request, socket, head)
  })

  let ending = new AbortController()
  if (config.store) await listen(server, config)

  // Another console takes over before the connections here are drained.
  shutdownSteps.unshift(
    () => ending.abort(),
    stopReceivers,
    () => store?.leave(),
  )
  if (store)
    store.join({
      onLead: () => {
        ending = new AbortController()
        void startReceivers(ending.signal)
      },
      onStepDown: () => {
        ending.abort()
        endTerminals('Another console has taken over')
        restartStreams()
        void dropAlertBooks()
      },
    })
  else void startReceivers(ending.signal)

  const lines = [
    embedded && !config.isSignOnOnly
      ? `Sign in (once, within ${signInLinkMinutes} minutes): ${address}${newSignInPath()}`
      : config.isSignOnOnly
        ? `Sign in: ${address}/sign-in`
        : `Sign in with an API key of ${config.serviceUrl}: ${address}/sign-in`,
    `Devdeck console on ${address}`,
    ...(embedded ? [`Local service on ${embedded.url()} (data in ${join(config.dataDir, 'service')})`] : []),
    ...(metrics ? [`Metrics on http://${config.metrics?.host}:${metrics.server.port}/metrics`] : []),
    embedded ? 'Create a devbox or load the demo data on the overview. Stop with Ctrl+C' : 'Stop with Ctrl+C',
  ]
  console.log(lines.join('\n'))
}

const openStore = async ({ url, peerUrl }: NonNullable<Config['store']>): Promise<SharedStore> => {
  const { SharedStore } = await import('#lib/gateway/store/shared-store.ts')
  const store = new SharedStore(url, peerUrl)
  try {
    await store.open()
  } catch (error) {
    throw new ConfigError([`DEVDECK_STORE cannot be used: ${(error as Error).message}`])
  }
  setCurrentStore(store)
  return store
}

const externalService = (url: string): ServiceAddress => ({
  embedded: false,
  url: () => url,
  ownKey: () => undefined,
  operatorToken: () => undefined,
})

const connections = new Set<Socket>()
let otherLoopback: NetServer | undefined

const listen = async (server: Server, { port, host }: Config): Promise<number> => {
  server.listen(port, host)
  try {
    await once(server, 'listening')
    otherLoopback = await listenOnOtherLoopback(server, host, (server.address() as AddressInfo).port)
  } catch (error) {
    const { code, message, address = host } = error as NodeJS.ErrnoException & { address?: string }
    if (code === 'EADDRINUSE')
      throw new ConfigError([
        `Port ${port} on ${address} is in use. Stop the program that uses it, or set PORT to another port.`,
      ])
    throw new ConfigError([`Cannot listen on ${host}, port ${port}: ${message}`])
  }
  return (server.address() as AddressInfo).port
}

let startProgress = 'Devdeck is starting…'
const respondStarting = (_: IncomingMessage, response: ServerResponse) => {
  response.writeHead(503, {
    'content-type': 'text/plain',
    'retry-after': '1',
    refresh: '1',
    'cache-control': 'no-store',
  })
  response.end(`${startProgress}\n`)
}

/** Builds with one line of output; that of the build goes to `logFile`. */
const buildIfStale = async (logFile: string): Promise<void> => {
  if (isBuilt(root)) return
  const stamp = join(root, '.next/BUILD_ID')
  const reason = existsSync(stamp) ? 'The source has changed' : 'First start'
  try {
    accessSync(root, constants.W_OK)
    rmSync(stamp, { force: true })
  } catch {
    throw new ConfigError([`${root} can't be changed by this user. Run \`npm ci && npm run build\` there as its owner`])
  }
  const startedMs = performance.now()
  const show = (text: string) => {
    startProgress = `${reason}: building the console ${text}`
    if (process.stdout.isTTY) process.stdout.write(`\r${startProgress}`)
  }
  if (!process.stdout.isTTY) console.log(`${reason}: building the console, about a minute`)
  show('(about a minute)')
  const ticking = setInterval(() => show(`(${Math.round((performance.now() - startedMs) / 1000)} s)   `), 1000)
  const log = openSync(logFile, 'w', 0o600)
  const build = spawn(process.execPath, [join(root, 'scripts/build.ts')], { cwd: root, stdio: ['ignore', log, log] })
  shutdownSteps.push(() => build.kill())
  const [code, signal] = await once(build, 'exit')
  clearInterval(ticking)
  closeSync(log)
  if (process.stdout.isTTY) console.log()
  if (code === 0) return
  rmSync(stamp, { force: true })
  throw new ConfigError([`The build failed (${signal ?? `code ${code}`}). Its output is in ${logFile}`])
}

const drain = async (server: Server): Promise<void> => {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  otherLoopback?.close()
  endStreams('restarting')
  closeSlots()
  server.closeIdleConnections()
  // Browsers preconnect, and Node waits for such idle connections.
  for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
  // Keep-alive sockets would otherwise stay open.
  const closing = setInterval(() => server.closeIdleConnections(), 100)
  const cutting = setTimeout(() => {
    console.log(`Shutdown timed out after ${drainMs / 1000} s; closing the remaining connections`)
    for (const socket of connections) socket.destroy()
  }, drainMs)
  await closed
  clearInterval(closing)
  clearTimeout(cutting)
}

/** Shutdown steps in order. The service stops last because the others may still need it. */
const shutdownSteps: (() => unknown)[] = []

let isStopping = false
const stop = async (code: number): Promise<void> => {
  if (isStopping) {
    if (code !== 0) process.exit(code)
    return
  }
  isStopping = true
  for (const each of shutdownSteps) await each()
  process.exit(code)
}

// systemd sends one after a drain, when the console is stopping already.
let signals = 0
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => {
    if (signals++ > 0) process.exit(1)
    void stop(0)
  })
if (!dev)
  process.on('uncaughtException', (error) => {
    console.error('Stopping the console after an unexpected error:', error)
    void stop(1)
  })

try {
  await start()
} catch (error) {
  for (const problem of error instanceof ConfigError ? error.problems : [(error as Error).stack ?? String(error)])
    console.error(problem)
  await stop(1)
}

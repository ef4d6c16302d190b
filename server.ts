import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Server as NetServer, Socket } from 'node:net'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { closeRevokedSessions } from '#lib/gateway/accounts/session-cookie.ts'
import { newSignInPath, signInLinkMinutes } from '#lib/gateway/accounts/sign-in.ts'
import { closeActivity } from '#lib/gateway/activity/activity.ts'
import { closeAlerts, startWebhook } from '#lib/gateway/alerts/alert-books.ts'
import { type Config, ConfigError, ownOrigins, readConfig, secretVariables } from '#lib/gateway/config.ts'
import { startEmbeddedService } from '#lib/gateway/embedded-service.ts'
import { onClientError } from '#lib/gateway/http/conflicting-cookies.ts'
import { listenOnOtherLoopback } from '#lib/gateway/http/loopback.ts'
import { precompressedFiles } from '#lib/gateway/http/precompressed-files.ts'
import { admit, serializePipelinedRequests, serverOptions } from '#lib/gateway/http/request-guards.ts'
import { socketUpgrades } from '#lib/gateway/http/upgrades.ts'
import { handleAsWebRequest } from '#lib/gateway/http/web-request.ts'
import { limitUnauthenticatedConnections, reserveFileDescriptors } from '#lib/gateway/limits/connection-limit.ts'
import { liveSocket } from '#lib/gateway/live/live-socket.ts'
import { checkSocket } from '#lib/gateway/live/self-check.ts'
import { proxy } from '#lib/gateway/proxy/proxy.ts'
import { acceptsForm, acceptsLargeBody } from '#lib/gateway/proxy/target.ts'
import { createRegistry, endStreams, registry, type ServiceAddress } from '#lib/gateway/registry/registry.ts'
import { terminalSockets } from '#lib/gateway/terminals/bridge.ts'
import { isBuilt } from './scripts/source-hash.ts'
import { takeVariable } from './scripts/take-variable.ts'

const root = import.meta.dirname
const dev = process.argv.includes('--dev')
/** With what the service takes to end, within ten seconds. */
const drainMs = 8_000
// Taken from the environment before anything is started that would inherit them.
const apiKeys = takeVariable('DEVDECK_API_KEYS')
const secrets = Object.fromEntries(secretVariables.map((name) => [name, takeVariable(name)]))
// Next reads it while it is being imported, hence the late import below.
Object.assign(process.env, { NODE_ENV: dev ? 'development' : 'production', NEXT_TELEMETRY_DISABLED: '1' })
z.config(z.locales.en())

const start = async (): Promise<void> => {
  const config = readConfig({ ...process.env, ...secrets })
  const server = createServer(serverOptions)
  reserveFileDescriptors(server)
  server.on('connection', (socket: Socket) => connections.add(socket.once('close', () => connections.delete(socket))))
  server.on('clientError', onClientError)
  server.on('request', stillStarting)
  // First of all, so that a taken port is told before anything is built or started.
  const port = await listen(server, config)
  const origins = ownOrigins(config, port)
  const address = config.publicOrigins[0] ?? origins[0] ?? ''

  const embedded =
    config.serviceUrl === undefined
      ? await startEmbeddedService(join(config.dataDir, 'service'), {
          apiKeys,
          port: config.servicePort,
          maxStorage: config.maxStorage,
          onProgress: (line) => {
            startProgress = line
          },
        })
      : undefined
  stopping.push(
    () => drain(server),
    () => embedded?.stop(),
  )
  createRegistry({ config, port, origins, service: embedded ?? externalService(config.serviceUrl ?? '') })

  // Next builds as it goes in development.
  if (!dev) await buildIfStale()
  const { default: next } = await import('next')
  // Next attaches a listener for WebSocket upgrades to the server it is given. This one never listens; it is handed
  // nothing but what hot reloading needs, so that ours alone decides about every other upgrade.
  const nextSide = createServer()
  const app = next({ dev, dir: root, hostname: config.host, port, httpServer: nextSide })
  await app.prepare()
  const handle = app.getRequestHandler()
  stopping.splice(1, 0, () => app.close())

  const answerPacked = dev ? undefined : precompressedFiles(join(root, '.next/packed'))
  server.off('request', stillStarting)
  // Not before: once anything listens for upgrades Node leaves all of them to it, and those of this moment to nobody.
  limitUnauthenticatedConnections(server)
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    if (!admit(request, response, { dev, acceptsForm })) return
    if (acceptsLargeBody(request.method, request.url)) return void handleAsWebRequest(request, response, proxy)
    if (answerPacked?.(request, response)) return
    void handle(request, response)
  }
  server.on('request', (request, response) =>
    serializePipelinedRequests(request, response, () => serve(request, response)),
  )
  server.on(
    'upgrade',
    socketUpgrades(
      [checkSocket, ...terminalSockets, liveSocket()],
      dev ? (request, socket, head) => nextSide.emit('upgrade', request, socket, head) : undefined,
    ),
  )

  const ending = new AbortController()
  stopping.unshift(() => ending.abort())
  void startWebhook(ending.signal)

  console.log(`Devdeck console on ${address}`)
  if (embedded) console.log(`Local service on ${embedded.url()} (data in ${join(config.dataDir, 'service')})`)
  console.log(
    embedded
      ? `Sign in within ${signInLinkMinutes} minutes: ${address}${newSignInPath()}`
      : `Sign in with an API key of ${config.serviceUrl} at ${address}/sign-in`,
  )
}

const externalService = (url: string): ServiceAddress => ({ embedded: false, url: () => url, ownKey: () => undefined })

/** All that are open. */
const connections = new Set<Socket>()
/** Listens on the other loopback address. */
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
        `Port ${port} on ${address} is taken: stop what listens there, or set PORT to another one`,
      ])
    throw new ConfigError([`Cannot listen on ${host}, port ${port}: ${message}`])
  }
  return (server.address() as AddressInfo).port
}

let startProgress = 'Devdeck is starting …'
const stillStarting = (_: IncomingMessage, response: ServerResponse) => {
  response.writeHead(503, {
    'content-type': 'text/plain',
    'retry-after': '1',
    refresh: '1',
    'cache-control': 'no-store',
  })
  response.end(`${startProgress}\n`)
}

const buildIfStale = async (): Promise<void> => {
  if (isBuilt(root)) return
  const stamp = join(root, '.next/BUILD_ID')
  console.log(
    existsSync(stamp)
      ? 'The sources have changed since the last build; building …'
      : 'Building the console, as there is no build yet …',
  )
  rmSync(stamp, { force: true })
  const build = spawn(process.execPath, [join(root, 'scripts/build.ts')], { cwd: root, stdio: 'inherit' })
  stopping.push(() => build.kill())
  const [code, signal] = await once(build, 'exit')
  if (code === 0) return
  rmSync(stamp, { force: true })
  throw new ConfigError([`The build failed (${signal ?? `code ${code}`}); what it said is above`])
}

const drain = async (server: Server): Promise<void> => {
  const closed = once(server, 'close')
  server.close()
  otherLoopback?.close()
  endStreams('restarting')
  closeAlerts()
  closeActivity()
  closeRevokedSessions()
  for (const hub of registry().evictionHubs.values()) hub.close()
  server.closeIdleConnections()
  // Browsers open some ahead of their next request, which Node waits for as if it had begun.
  for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
  // Else one whose last answer ends by now is kept for the next request.
  const closing = setInterval(() => server.closeIdleConnections(), 100)
  const cutting = setTimeout(() => {
    console.log(`What was not done ${drainMs / 1000} s after the end was asked for is broken off`)
    for (const socket of connections) socket.destroy()
  }, drainMs)
  await closed
  clearInterval(closing)
  clearTimeout(cutting)
}

/** The steps of stopping, in their order. The service comes last, as all others may still need it. */
const stopping: (() => unknown)[] = []

let stops = 0
const stop = async (code: number): Promise<void> => {
  if (stops++ > 0) process.exit(1)
  for (const each of stopping) await each()
  process.exit(code)
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(0))
if (!dev)
  process.on('uncaughtException', (error) => {
    console.error('The console stops after an unexpected error:', error)
    void stop(1)
  })

try {
  await start()
} catch (error) {
  for (const problem of error instanceof ConfigError ? error.problems : [(error as Error).stack ?? String(error)])
    console.error(problem)
  await stop(1)
}

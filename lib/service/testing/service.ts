import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { type IncomingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '#lib/client/client.ts'
import type { Devbox, DevboxCreate, DevboxStatus } from '#lib/contract/devboxes.ts'
import type { SyncExecution } from '#lib/contract/executions.ts'
import { defaultLimits, defaultMaxEnvironmentBytes, type ServiceConfig } from '#lib/service/config.ts'
import { parseEngineAddress } from '#lib/service/engine/container/engine-address.ts'
import { EngineApi } from '#lib/service/engine/container/engine-api.ts'
import { findProcesses } from '#lib/service/engine/processes.ts'
import { defaultPressure } from '#lib/service/evictions/pressure.ts'
import { readProc } from '#lib/service/kit/proc.ts'
import { createService, type Service } from '#lib/service/service.ts'
import { sharedDocker } from './docker.ts'
import type { TestImage } from './images.ts'
import { sharedSwarm } from './swarm.ts'

export interface TestService {
  url: string
  key: string
  otherKey: string
  client: Client
  otherClient: Client
  dataDir: string
  serviceId: string
  /** Calls a path with the key, unless `init` has its own Authorization. */
  fetch: (path: string, init?: RequestInit) => Promise<Response>
  post: (path: string, body?: unknown, headers?: Record<string, string>) => Promise<Response>
  devbox: (body?: DevboxCreate) => Promise<string>
  reach: (id: string, ...statuses: DevboxStatus[]) => Promise<Devbox>
  run: (id: string, command: string, shell_name?: string) => Promise<SyncExecution>
  /** Restarts the service on the same folder and port. */
  restart: () => Promise<void>
  /** Stops the service and removes its folder. Throws if a process is left. */
  close: () => Promise<void>
}

/** The shared engine that an isolation needs, with an image. */
export const sharedEngine = async (
  isolation: ServiceConfig['isolation'],
  image: TestImage = 'base',
): Promise<Pick<ServiceConfig, 'engine' | 'swarm' | 'image'>> => {
  if (isolation === 'container') {
    const docker = await sharedDocker()
    return { engine: docker.url, image: await docker.image(image) }
  }
  if (isolation !== 'swarm') return { engine: 'none', image }
  const swarm = await sharedSwarm()
  return { engine: 'swarm', swarm: swarm.choice, image: await swarm.image(image) }
}

/** Starts a service with its own folder and port. Responses are validated against the contract. */
export const startService = async (options: Partial<ServiceConfig> = {}): Promise<TestService> => {
  const key = `ak_test${randomBytes(12).toString('hex')}`
  const otherKey = `ak_other${randomBytes(12).toString('hex')}`
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'devdeck-service-'))
  const config: ServiceConfig = {
    host: '127.0.0.1',
    port: 0,
    dataDir,
    keys: [
      { account: 'test', key },
      { account: 'other', key: otherKey },
    ],
    oneAccountUnlessIsolated: false,
    allowHosts: [],
    isolation: 'auto',
    engineVariables: {},
    ...(options.engine ? { image: 'base' } : await sharedEngine(options.isolation ?? 'auto')),
    privateNetwork: false,
    limits: defaultLimits,
    maxStorageBytes: 0,
    // Other load on the machine must not evict test devboxes.
    pressure: { ...defaultPressure, minFreeMemoryBytes: 0, minFreeDiskBytes: 0 },
    datasets: [],
    strictEnvironments: false,
    maxEnvironmentBytes: defaultMaxEnvironmentBytes,
    agents: {},
    validateResponses: true,
    ...options,
  }
  let service: Service = await createService(config)
  const { url, port, serviceId } = service
  const authorization = `Bearer ${key}`
  const client = createClient({ baseUrl: url, headers: { authorization } })
  const withKey: TestService['fetch'] = (path, init = {}) => {
    const headers = new Headers(init.headers)
    if (!headers.has('authorization')) headers.set('authorization', authorization)
    return fetch(url + path, { ...init, headers })
  }
  return {
    url,
    key,
    otherKey,
    dataDir,
    serviceId,
    client,
    otherClient: createClient({ baseUrl: url, headers: { authorization: `Bearer ${otherKey}` } }),
    fetch: withKey,
    post: (path, body = {}, headers = {}) =>
      withKey(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    devbox: async (body = {}) => (await client.devboxes.createAndAwaitRunning({ body })).id,
    reach: (id, ...statuses) => client.devboxes.waitForStatus({ params: { id }, body: { statuses } }),
    run: (id, command, shell_name) =>
      client.executions.executeSync({ params: { id }, body: { command, ...(shell_name && { shell_name }) } }),
    restart: async () => {
      await service.close()
      service = await createService({ ...config, port })
    },
    close: async () => {
      await service.close()
      if (config.engine === 'swarm' && config.swarm) await removeDevboxes(config.swarm.url, serviceId)
      else if (config.engine !== undefined && config.engine !== 'none') await removeContainers(config.engine, serviceId)
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true })
      const left = findProcesses({ DEVDECK_SERVICE_ID: serviceId }).map((pid) => `${pid} ${readProc(pid, 'cmdline')}`)
      if (left.length > 0) throw new Error(`The service left processes: ${left.join(', ')}`)
    },
  }
}

/** They outlive the service. */
const removeDevboxes = async (manager: string, serviceId: string) => {
  const api = new EngineApi(parseEngineAddress(manager, {}))
  const query = { filters: { label: [`devdeck.service=${serviceId}`] } }
  // A test may have ended its own swarm.
  const services = await api.json<{ ID: string }[]>('GET', '/services', { query }).catch(() => [])
  await Promise.all(services.map(({ ID }) => api.json('DELETE', `/services/${ID}`)))
}

const removeContainers = async (engine: string, serviceId: string) => {
  const api = new EngineApi(parseEngineAddress(engine, {}))
  const query = { all: true, filters: { label: [`devdeck.service=${serviceId}`] } }
  const containers = await api.json<{ Id: string }[]>('GET', '/containers/json', { query }).catch(() => [])
  await Promise.all(containers.map(({ Id }) => api.json('DELETE', `/containers/${Id}`, { query: { force: true } })))
  const networks = await api.json<{ Id: string }[]>('GET', '/networks', { query }).catch(() => [])
  await Promise.all(networks.map(({ Id }) => api.json('DELETE', `/networks/${Id}`)))
}

interface RawRequest {
  method?: string
  /** Sent as is; `fetch` would normalize it. */
  path: string
  headers?: Record<string, string>
  body?: string | Buffer
}

interface RawAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

export const statusOf = (call: Promise<unknown>): Promise<number | undefined> =>
  call.then(
    () => undefined,
    (error: { status?: number }) => error.status,
  )

/** Sends an HTTP/1.1 request without any normalization. */
export const sendRaw = (url: string, { method = 'GET', path, headers = {}, body }: RawRequest): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const outgoing = request({ hostname, port, method, path, headers, agent: false }, async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text })
    })
    outgoing.once('error', reject)
    outgoing.end(body)
  })

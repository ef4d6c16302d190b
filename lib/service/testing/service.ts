import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { type IncomingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '#lib/client/client.ts'
import { defaultLimits, defaultMaxEnvironmentBytes, defaultMaxTrials, type ServiceConfig } from '#lib/service/config.ts'
import { findProcesses } from '#lib/service/engine/processes.ts'
import { defaultPressure } from '#lib/service/evictions/pressure.ts'
import { readProc } from '#lib/service/kit/proc.ts'
import { createService, type Service } from '#lib/service/service.ts'

export interface TestService {
  url: string
  /** Of the account `test`. */
  key: string
  /** Of the account `other`. */
  otherKey: string
  client: Client
  otherClient: Client
  dataDir: string
  serviceId: string
  /** Calls a path of the service, with the key unless `init` brings its own Authorization. */
  fetch: (path: string, init?: RequestInit) => Promise<Response>
  /** Stops the service and starts it again on the same folder and port. */
  restart: () => Promise<void>
  /** Stops the service and removes its folder. Throws when a process it started is still alive. */
  close: () => Promise<void>
}

/** A whole service on a free port and a folder of its own. Every answer is checked against the contract. */
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
    privateNetwork: false,
    limits: defaultLimits,
    maxStorageBytes: 0,
    // What else runs on the machine must not evict the devboxes of a test.
    pressure: { ...defaultPressure, minFreeMemoryBytes: 0, minFreeDiskBytes: 0 },
    datasets: [],
    strictEnvironments: false,
    maxEnvironmentBytes: defaultMaxEnvironmentBytes,
    maxTrials: defaultMaxTrials,
    agents: {},
    validateAnswers: true,
    ...options,
  }
  let service: Service = await createService(config)
  const { url, port, serviceId } = service
  const authorization = `Bearer ${key}`
  return {
    url,
    key,
    otherKey,
    dataDir,
    serviceId,
    client: createClient({ baseUrl: url, headers: { authorization } }),
    otherClient: createClient({ baseUrl: url, headers: { authorization: `Bearer ${otherKey}` } }),
    fetch: (path, init = {}) => {
      const headers = new Headers(init.headers)
      if (!headers.has('authorization')) headers.set('authorization', authorization)
      return fetch(url + path, { ...init, headers })
    },
    restart: async () => {
      await service.close()
      service = await createService({ ...config, port })
    },
    close: async () => {
      await service.close()
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true })
      const left = findProcesses({ DEVDECK_SERVICE_ID: serviceId }).map((pid) => `${pid} ${readProc(pid, 'cmdline')}`)
      if (left.length > 0) throw new Error(`The service left processes behind: ${left.join(', ')}`)
    },
  }
}

interface RawRequest {
  method?: string
  /** Sent as it is, where `fetch` would normalise it. */
  path: string
  headers?: Record<string, string>
  body?: string | Buffer
}

interface RawAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

/** One HTTP/1.1 request that nothing tidies up before it is sent. */
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

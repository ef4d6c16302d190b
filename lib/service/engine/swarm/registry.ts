import { BlockList, isIP, isIPv6 } from 'node:net'
import type { ImageInspectInfo } from 'dockerode'
import { Agent, fetch, type Response } from 'undici'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { logError } from '#lib/service/kit/log.ts'
import type { EngineApi, RegistryAuth } from '../container/engine-api.ts'

const timeoutMs = 30_000
const pingTimeoutMs = 5000

const manifestTypes = [
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
].join(', ')

interface Options {
  /** HOST[:PORT][/PREFIX] */
  address: string
  /** Whether the engines accept plain HTTP and unknown certificates from it. */
  isInsecure: () => Promise<boolean>
  credentials: () => Promise<RegistryAuth | undefined>
}

interface Location {
  repository: string
  tag: string
}

interface Blob {
  digest: string
}

interface StoredConfig {
  created: string
  config: ImageInspectInfo['Config']
}

interface StoredImage {
  digest: string
  /** Digest of the image's configuration, which is its ID in the engine. */
  id: string
}

/** Calls the HTTP API of a registry. Rejects with `unavailable` without a response. */
export class Registry {
  readonly address: string
  readonly host: string
  readonly credentials: () => Promise<RegistryAuth | undefined>
  readonly #prefix: string
  readonly #isInsecure: () => Promise<boolean>
  #origin: Promise<{ url: string; dispatcher?: Agent }> | undefined
  #keepsDeleted = false

  constructor({ address, isInsecure, credentials }: Options) {
    const [host = '', ...prefix] = address.split('/')
    this.address = address
    this.host = host
    this.credentials = credentials
    this.#prefix = prefix.map((part) => `${part}/`).join('')
    this.#isInsecure = isInsecure
  }

  async requireAvailable(): Promise<void> {
    await this.#send('GET', '/v2/', { limitMs: pingTimeoutMs })
  }

  /** Repositories are relative to the address. Undefined if the registry doesn't have the image. */
  async find(repository: string, tag: string): Promise<StoredImage | undefined> {
    const response = await this.#send('GET', this.#path(repository, 'manifests', tag))
    const digest = response?.headers.get('docker-content-digest')
    if (!response || !digest) return undefined
    const { config } = (await response.json()) as { config?: { digest: string } }
    return config && { digest, id: config.digest }
  }

  /** The configuration of an image by its ID. */
  async configOf(repository: string, id: string): Promise<StoredConfig | undefined> {
    const response = await this.#send('GET', this.#path(repository, 'blobs', id))
    return (await response?.json()) as StoredConfig | undefined
  }

  async copy(from: Location, to: Location): Promise<void> {
    const response = await this.#send('GET', this.#path(from.repository, 'manifests', from.tag))
    if (!response) throw new Error(`The registry has no ${from.repository}:${from.tag}`)
    const body = await response.text()
    const { config, layers } = JSON.parse(body) as { config: Blob; layers: Blob[] }
    for (const { digest } of [config, ...layers]) {
      const query = new URLSearchParams({ mount: digest, from: this.#prefix + from.repository })
      const mounted = await this.#send('POST', `${this.#path(to.repository, 'blobs', 'uploads')}/?${query}`)
      if (mounted?.status !== 201) throw new Error(`The registry could not copy layer ${digest}`)
    }
    const type = response.headers.get('content-type') ?? ''
    await this.#send('PUT', this.#path(to.repository, 'manifests', to.tag), { body, type })
  }

  /** Removes an image and all its tags. Its layers stay until the registry's garbage collection. */
  async delete(repository: string, digest: string): Promise<void> {
    await this.#send('DELETE', this.#path(repository, 'manifests', digest)).catch((error: unknown) => {
      if (!(error instanceof RegistryError) || error.status !== 405) throw error
      if (this.#keepsDeleted) return
      this.#keepsDeleted = true
      const message = `The registry at ${this.host} does not allow deletion: deleted disks, snapshots and images stay in it`
      logError({ level: 'warn', message })
    })
  }

  #path(repository: string, kind: string, reference: string): string {
    return `/v2/${this.#prefix}${repository}/${kind}/${reference}`
  }

  /** Undefined if it doesn't exist. */
  async #send(
    method: string,
    path: string,
    { limitMs = timeoutMs, body, type }: { limitMs?: number; body?: string; type?: string } = {},
  ): Promise<Response | undefined> {
    const auth = await this.credentials()
    const basic = auth?.username !== undefined && `Basic ${base64(`${auth.username}:${auth.password}`)}`
    const send = async (authorization: string | false) => {
      const { url, ...how } = await this.#connect()
      const headers = {
        accept: manifestTypes,
        ...(authorization && { authorization }),
        ...(type && { 'content-type': type }),
      }
      const signal = AbortSignal.timeout(limitMs)
      return fetch(url + path, { method, headers, ...how, ...(body !== undefined && { body }), signal })
    }
    try {
      let response = await send(basic)
      const challenge = response.headers.get('www-authenticate') ?? ''
      if (response.status === 401 && /^bearer /i.test(challenge))
        response = await send(`Bearer ${await this.#token(challenge, basic, auth?.identitytoken)}`)
      if (response.ok) return response
      const text = await response.text()
      if (response.status === 404) return undefined
      throw new RegistryError(response.status, `${method} ${path}: ${problemOf(text) || response.statusText}`)
    } catch (error) {
      if (error instanceof RegistryError && error.status < 500) {
        const denied = error.status === 401 || error.status === 403
        throw denied ? this.#denied(error) : error
      }
      throw this.#unavailable(error as Error)
    }
  }

  /** Connects like the engines: HTTPS first, and HTTP only for an insecure registry. */
  #connect() {
    this.#origin ??= (async () => {
      const secure = { url: `https://${this.host}` }
      if (!(await this.#isInsecure())) return secure
      const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
      const url = `${secure.url}/v2/`
      return fetch(url, { dispatcher, signal: AbortSignal.timeout(pingTimeoutMs) }).then(
        () => ({ ...secure, dispatcher }),
        async () => {
          const plain = { url: `http://${this.host}` }
          await fetch(`${plain.url}/v2/`, { signal: AbortSignal.timeout(pingTimeoutMs) })
          return plain
        },
      )
    })()
    this.#origin.catch(() => {
      this.#origin = undefined
    })
    return this.#origin
  }

  async #token(challenge: string, basic: string | false, refreshToken: string | undefined): Promise<string> {
    const parameters = new Map([...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]))
    const url = new URL(parameters.get('realm') ?? '')
    const query = new URLSearchParams()
    for (const name of ['service', 'scope']) query.set(name, parameters.get(name) ?? '')
    const { dispatcher } = await this.#connect()
    const common = { ...(dispatcher && { dispatcher }), signal: AbortSignal.timeout(timeoutMs) }
    if (refreshToken !== undefined) {
      query.set('grant_type', 'refresh_token')
      query.set('refresh_token', refreshToken)
      query.set('client_id', 'devdeck')
    } else url.search = query.toString()
    const response = await (refreshToken === undefined
      ? fetch(url, { ...common, headers: { ...(basic && { authorization: basic }) } })
      : fetch(url, { ...common, method: 'POST', body: query }))
    if (!response.ok) throw new RegistryError(response.status, `${url.origin} issued no token`)
    const { token, access_token } = (await response.json()) as { token?: string; access_token?: string }
    return token ?? access_token ?? ''
  }

  #denied(error: RegistryError): ServiceError {
    const message = `The registry at ${this.host} denied access (${error.message}). Run docker login ${this.host} as the service's user`
    return new ServiceError('internal', message, { shouldRetry: false, cause: error })
  }

  #unavailable(error: Error): ServiceError {
    const { code, message } = (error.cause ?? error) as Error & { code?: string }
    const problem = `The registry at ${this.host} can't be reached: ${code ?? message}`
    return new ServiceError('unavailable', problem, { retryAfterSeconds: 10, cause: error })
  }
}

interface RegistryInfo {
  RegistryConfig?: {
    IndexConfigs?: Record<string, { Secure: boolean }>
    InsecureRegistryCIDRs?: string[]
  }
}

/** A registry that the service contacts as the manager's engine does. */
export const createRegistry = ({
  address,
  manager,
  credentials,
}: {
  address: string
  manager: EngineApi
  credentials: (host: string) => Promise<RegistryAuth | undefined>
}): Registry => {
  const [host = ''] = address.split('/')
  const isInsecure = async () => {
    const { RegistryConfig } = await manager.json<RegistryInfo>('GET', '/info')
    const { IndexConfigs = {}, InsecureRegistryCIDRs = [] } = RegistryConfig ?? {}
    const insecure = new BlockList()
    for (const range of InsecureRegistryCIDRs) {
      const [net = '', bits] = range.split('/')
      insecure.addSubnet(net, Number(bits), isIPv6(net) ? 'ipv6' : 'ipv4')
    }
    const name = host.replace(/:\d+$/, '').replace('localhost', '127.0.0.1')
    return IndexConfigs[host]?.Secure === false || (isIP(name) !== 0 && insecure.check(name))
  }
  return new Registry({ address, isInsecure, credentials: () => credentials(host) })
}

class RegistryError extends Error {
  override readonly name = 'RegistryError'
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

const problemOf = (text: string): string => {
  try {
    const { errors } = JSON.parse(text) as { errors?: { message: string }[] }
    return errors?.map(({ message }) => message).join(', ') ?? ''
  } catch {
    return text.slice(0, 200)
  }
}

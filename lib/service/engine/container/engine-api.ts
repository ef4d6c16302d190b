import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import Docker from 'dockerode'
import { ServiceError } from '#lib/service/kit/errors.ts'
import type { EngineAddress } from './engine-address.ts'

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'

interface Request {
  /** Objects are sent as JSON. */
  query?: Record<string, unknown>
  body?: object
  file?: Readable | Buffer
  /** Credentials for the registry that the engine contacts. */
  auth?: RegistryAuth | undefined
  signal?: AbortSignal | undefined
  timeoutMs?: number
}

export interface RegistryAuth {
  username?: string
  password?: string
  identitytoken?: string
  serveraddress?: string
}

/** A response other than success. */
export class EngineResponseError extends Error {
  override readonly name = 'EngineResponseError'
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const defaultTimeoutMs = 60_000
const successes = { 200: true, 201: true, 204: true, 304: true }

/** Calls the Docker Engine API. Rejects with an EngineResponseError, or `unavailable` without a response. */
export class EngineApi {
  readonly url: string
  readonly #modem: Docker['modem']

  constructor({ url, options }: EngineAddress) {
    this.url = url
    this.#modem = new Docker(options).modem
  }

  json<T = unknown>(method: Method, path: string, request: Request = {}): Promise<T> {
    return this.#dial<T>(method, path, request, {})
  }

  /** Resolves with the response's body as a stream; only the wait for the response has a timeout. */
  stream(method: Method, path: string, request: Request = {}): Promise<IncomingMessage> {
    return this.#dial<IncomingMessage>(method, path, request, { isStream: true })
  }

  /** Resolves with the raw connection that the engine switches to. */
  async hijack(path: string, body: object, signal: AbortSignal, query = {}): Promise<Socket> {
    const socket = await this.#dial<Socket>('POST', path, { query, body, signal }, { isStream: true, hijack: true })
    return socket.on('error', () => undefined)
  }

  async exists(path: string, query: Record<string, unknown> = {}): Promise<boolean> {
    return (await this.json('HEAD', path, { query }).catch(ifMissing)) !== undefined
  }

  /** Stats a path of a container, without following a symlink at its end. */
  async statInside(archive: string, path: string): Promise<{ linkTarget: string } | undefined> {
    const response = await this.stream('HEAD', archive, { query: { path } }).catch(ifMissing)
    const stat = response?.resume().headers['x-docker-container-path-stat']
    return stat === undefined ? undefined : JSON.parse(Buffer.from(String(stat), 'base64').toString('utf8'))
  }

  async #dial<T>(method: Method, path: string, request: Request, how: object): Promise<T> {
    const { query = {}, body, file, auth, signal, timeoutMs = defaultTimeoutMs } = request
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(), timeoutMs)
    const stop = signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal
    try {
      return await new Promise<T>((resolve, reject) =>
        this.#modem.dial(
          {
            method,
            path: `${path}?`,
            options: { _query: query, _body: body ?? {} },
            ...(file && { file }),
            ...(auth && { authconfig: auth }),
            abortSignal: stop,
            statusCodes: successes,
            ...how,
          },
          (error: unknown, result: unknown) => (error ? reject(error) : resolve(result as T)),
        ),
      )
    } catch (error) {
      signal?.throwIfAborted()
      throw deadline.signal.aborted
        ? this.unavailable(`did not respond within ${timeoutMs / 1000} s`, error)
        : this.#failure(error as Failure)
    } finally {
      clearTimeout(timer)
    }
  }

  unavailable(problem: string, cause?: unknown): ServiceError {
    return new ServiceError('unavailable', `The container engine at ${this.url} ${problem}`, { cause })
  }

  #failure(error: Failure): Error {
    if (error.statusCode === undefined)
      return this.unavailable(`can't be reached: ${error.code ?? error.message}`, error)
    const plain = /^\(HTTP code \d+\) [^-]* - (.*?)\s*$/s.exec(error.message)?.[1]
    return new EngineResponseError(error.statusCode, error.json?.message ?? plain ?? error.message)
  }
}

interface Failure extends Error {
  statusCode?: number
  code?: string
  json?: { message?: string } | null
}

export const ifMissing = (error: unknown): undefined => {
  if (!(error instanceof EngineResponseError) || error.status !== 404) throw error
}

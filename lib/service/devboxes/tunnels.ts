import { setTimeout as delay } from 'node:timers/promises'
import { devboxRefusal, hasEnded } from '#lib/contract/devboxes.ts'
import type { Tunnel, TunnelOptions } from '#lib/contract/tunnels.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import type { DevboxStore } from '#lib/service/store/devboxes.ts'
import type { Devboxes } from './devboxes.ts'
import { newTunnel } from './new-devbox.ts'

const wakeMs = 30_000
const retryIntervalMs = 100

export interface TunnelOwner {
  account: string
  id: string
  tunnel: Tunnel
}

export class Tunnels {
  readonly #store: DevboxStore
  readonly #devboxes: Devboxes
  readonly #cuts = new Map<string, AbortController>()

  constructor({ store, devboxes }: { store: DevboxStore; devboxes: Devboxes }) {
    this.#store = store
    this.#devboxes = devboxes
    devboxes.changes.on('status', (id: string, status: string) => {
      if (status === 'suspending' || hasEnded(status)) this.#cut(id)
    })
  }

  enable(account: string, id: string, options: TunnelOptions): Tunnel {
    const devbox = this.#devboxes.get(account, id)
    const reason =
      devboxRefusal('enable_tunnel', devbox.status) ??
      (devbox.tunnel ? 'The devbox already has a tunnel; remove it first' : null)
    if (reason) throw new ServiceError('invalid_argument', reason, { shouldRetry: false })
    const tunnel = newTunnel(options, Date.now())
    this.#store.setTunnel(id, tunnel)
    return tunnel
  }

  /** Closes its connections. Unspecified: idempotent. */
  remove(account: string, id: string): void {
    this.#devboxes.get(account, id)
    this.#store.setTunnel(id, null)
    this.#cut(id)
  }

  find(key: string): TunnelOwner | undefined {
    return this.#store.byTunnelKey(key)
  }

  cutOf(id: string): AbortSignal {
    const known = this.#cuts.get(id) ?? new AbortController()
    this.#cuts.set(id, known)
    return known.signal
  }

  /** Connects to a devbox port, resuming the devbox if the tunnel allows it. Throws 404, 502 or 503. */
  async open({ account, id, tunnel }: TunnelOwner, port: number, signal: AbortSignal) {
    const giveUpAtMs = Date.now() + wakeMs
    const wasAwake = this.#devboxes.get(account, id).status === 'running'
    if (!wasAwake) await this.#wake(account, id, tunnel, signal)
    await this.#devboxes.adopted(id)
    const { box, busy } = this.#devboxes.running(account, id, 'enable_tunnel')
    const release = tunnel.http_keep_alive ? busy() : () => undefined
    for (;;) {
      try {
        return { socket: await box.connect(port), release }
      } catch (cause) {
        if (!wasAwake && Date.now() < giveUpAtMs && !signal.aborted) await delay(retryIntervalMs)
        else {
          release()
          throw new ServiceError('bad_upstream', `Nothing is listening on port ${port} of devbox ${id}`, { cause })
        }
      }
    }
  }

  close(): void {
    for (const id of [...this.#cuts.keys()]) this.#cut(id)
  }

  async #wake(account: string, id: string, tunnel: Tunnel, signal: AbortSignal): Promise<void> {
    const { status, launch_parameters } = this.#devboxes.get(account, id)
    if (hasEnded(status)) throw new ServiceError('not_found', `Devbox ${id} has ended (${status})`)
    if (status === 'suspending' || status === 'suspended') {
      if (!(launch_parameters.lifecycle?.resume_triggers?.http ?? tunnel.wake_on_http))
        throw new ServiceError(
          'unavailable',
          `Devbox ${id} is ${status} and its tunnel doesn't resume it on requests`,
          { shouldRetry: false },
        )
      await this.#devboxes.reaches(account, id, ['suspended', 'failure', 'shutdown'], wakeMs, signal)
      const isSuspended = () => this.#devboxes.get(account, id).status === 'suspended'
      if (isSuspended())
        await this.#devboxes.resume(account, id).catch((error: unknown) => {
          // Another request has resumed it meanwhile.
          if (isSuspended()) throw error
        })
    }
    const awake = await this.#devboxes.reaches(account, id, ['running', 'failure', 'shutdown'], wakeMs, signal)
    if (awake?.status !== 'running')
      throw new ServiceError('unavailable', `Devbox ${id} is ${awake?.status ?? 'not running yet'}`, {
        retryAfterSeconds: 5,
      })
  }

  #cut(id: string) {
    this.#cuts.get(id)?.abort()
    this.#cuts.delete(id)
  }
}

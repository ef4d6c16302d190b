import { ServiceError } from '#lib/service/kit/errors.ts'
import type { KeyStore } from '#lib/service/store/keys.ts'

const intervalMs = 1_000

/** Ends the streams and sockets of keys that were revoked by `keys revoke`, which is another process. */
export class Revocations {
  readonly #store: Pick<KeyStore, 'isValid' | 'dataVersion'>
  readonly #inUse = new Map<string, AbortController>()
  readonly #timer: NodeJS.Timeout
  #dataVersion: number

  constructor(store: Pick<KeyStore, 'isValid' | 'dataVersion'>) {
    this.#store = store
    this.#dataVersion = store.dataVersion()
    this.#timer = setInterval(() => this.#look(), intervalMs).unref()
  }

  /** Aborted within seconds of the key's revocation. */
  signalOf(keyId: string): AbortSignal {
    const controller = this.#inUse.get(keyId) ?? new AbortController()
    this.#inUse.set(keyId, controller)
    return controller.signal
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #look() {
    const dataVersion = this.#store.dataVersion()
    if (dataVersion === this.#dataVersion) return
    this.#dataVersion = dataVersion
    for (const [id, controller] of this.#inUse) {
      if (this.#store.isValid(id)) continue
      this.#inUse.delete(id)
      controller.abort(new ServiceError('unauthenticated', 'The key was revoked'))
    }
  }
}

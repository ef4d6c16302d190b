import { defaultSize } from '#lib/contract/terminals.ts'
import type { RunningDevbox, Size } from '#lib/service/engine/box.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { type SessionKey, Shell } from './shell.ts'

const devboxEndedCode = 4001
const serviceStopsCode = 1001

export class Terminals {
  readonly #maxPerAccount: number
  readonly #shells = new Map<string, Shell>()

  constructor(maxPerAccount: number) {
    this.#maxPerAccount = maxPerAccount
  }

  find(key: SessionKey): Shell | undefined {
    return this.#shells.get(keyOf(key))
  }

  /** Starts the shell if needed. `size` applies unless a client is attached. */
  open(key: SessionKey, devbox: RunningDevbox, size: Size | undefined): { shell: Shell; created: boolean } {
    const found = this.find(key)
    if (found) {
      if (size && !found.attached) found.resize(size)
      return { shell: found, created: false }
    }
    const count = [...this.#shells.values()].filter(({ account }) => account === key.account).length
    if (count >= this.#maxPerAccount)
      throw new ServiceError(
        'rate_limited',
        `The account has reached its limit of ${count} terminal sessions; close one`,
        { retryAfterSeconds: 30 },
      )
    const shell = new Shell(key, devbox, size ?? defaultSize, () => {
      if (this.find(key) === shell) this.#shells.delete(keyOf(key))
    })
    this.#shells.set(keyOf(key), shell)
    return { shell, created: true }
  }

  endAll(devboxId: string, reason: string): void {
    for (const shell of this.#shells.values()) if (shell.devboxId === devboxId) shell.end(devboxEndedCode, reason)
  }

  close(): void {
    for (const shell of this.#shells.values()) shell.end(serviceStopsCode, 'The service is stopping')
  }
}

const keyOf = ({ account, devboxId, name }: SessionKey) => `${account} ${devboxId} ${name}`

import { randomUUID } from 'node:crypto'
import { defaultSize } from '#lib/contract/terminals.ts'
import type { RunningDevbox, Size } from '#lib/service/engine/box.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { logFailure } from '#lib/service/kit/log.ts'
import type { TerminalRecord, TerminalStore } from '#lib/service/store/terminals.ts'
import { holdOf, type SessionKey, Shell } from './shell.ts'

const devboxEndedCode = 4001
const serviceStopsCode = 1001

export interface OpenShell {
  account: string
  /** Name of the session. */
  id: string
  devbox_id: string
  program: string | undefined
  lastInputMs: number | undefined
}

export class Terminals {
  readonly #maxPerAccount: number
  readonly #store: TerminalStore
  readonly #shells = new Map<string, Shell>()

  constructor(maxPerAccount: number, store: TerminalStore) {
    this.#maxPerAccount = maxPerAccount
    this.#store = store
  }

  /** Names by which the shells of a devbox are found by the next service. */
  holds(devboxId: string): string[] {
    return this.#store.of(devboxId).map(({ id }) => holdOf(id))
  }

  /** Forgets the shells of other devboxes than these, which ended with an earlier service. */
  keepOnly(devboxIds: { has(devboxId: string): boolean }): void {
    this.#store.keepOnly(devboxIds)
  }

  /** Continues the shells that an earlier service started in a devbox. */
  async resume(devboxId: string, devbox: RunningDevbox): Promise<void> {
    const resume = async ({ id, account, name }: TerminalRecord) => {
      const key = { account, devboxId, name }
      const shell = await Shell.resume(id, key, devbox, () => this.#ended(key, id))
      if (shell) this.#shells.set(keyOf(key), shell)
      else this.#ended(key, id)
    }
    await Promise.all(this.#store.of(devboxId).map(resume))
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
    const id = randomUUID()
    if (devbox.box.survivors) this.#store.insert({ id, account: key.account, devbox_id: key.devboxId, name: key.name })
    const shell = Shell.start(id, key, devbox, size ?? defaultSize, () => this.#ended(key, id))
    this.#shells.set(keyOf(key), shell)
    return { shell, created: true }
  }

  #ended(key: SessionKey, id: string) {
    const shell = this.find(key)
    if (shell?.id === id) this.#shells.delete(keyOf(key))
    if (shell?.outlivesService === false) return
    try {
      this.#store.remove(id)
    } catch (error) {
      logFailure(`Could not store the end of terminal session ${key.name}`)(error)
    }
  }

  endingWithService(): OpenShell[] {
    return [...this.#shells.values()]
      .filter(({ outlivesService }) => !outlivesService)
      .map(({ account, name, devboxId, program, lastInputMs }) => ({
        account,
        id: name,
        devbox_id: devboxId,
        program,
        lastInputMs,
      }))
  }

  endAll(devboxId: string, reason: string): void {
    for (const shell of this.#shells.values()) if (shell.devboxId === devboxId) shell.end(devboxEndedCode, reason)
  }

  close(): void {
    for (const shell of this.#shells.values())
      shell[shell.outlivesService ? 'detach' : 'end'](serviceStopsCode, 'The service is stopping')
  }
}

const keyOf = ({ account, devboxId, name }: SessionKey) => `${account} ${devboxId} ${name}`

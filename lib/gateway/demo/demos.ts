import { ApiError } from '#lib/client/api-error.ts'
import type { Client } from '#lib/client/client.ts'
import type { DemoView } from '#lib/protocol/demo.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { HttpError } from '../http/handle-request.ts'
import { registry, slot } from '../registry/registry.ts'
import { clientFor } from '../upstream/client.ts'
import { DemoStore, type StoredDemo } from './demo-store.ts'
import { loadDemo } from './load-demo.ts'
import { removeDemo } from './remove-demo.ts'

/** Loads and removes the demo data of accounts. Requests return at once; pages poll the view. */
class Demos {
  readonly #store = new DemoStore(registry().config.dataDir)
  readonly #closing = new AbortController()
  /** Accounts whose demo is being loaded or removed by this process. */
  readonly #current = new Map<string, StoredDemo>()

  view(account: string): DemoView {
    if (!registry().service.embedded) return { state: 'unavailable', items: [], problem: null }
    const current = this.#current.get(account)
    if (current) return current
    const stored = this.#store.get(account)
    if (!stored) return { state: 'none', items: [], problem: null }
    if (stored.state === 'loaded' || stored.state === 'failed') return stored
    return { ...stored, state: 'failed', problem: 'The console was restarted meanwhile' }
  }

  async load({ account, api_key }: KeyHolder): Promise<DemoView> {
    this.#requireAvailable(account.id)
    const client = clientFor(api_key)
    if (!(await isEmpty(client)))
      throw new HttpError('conflict', 'Demo data can only be loaded into an account without devboxes and jobs')
    // Another page may have started it meanwhile.
    this.#requireAvailable(account.id)
    const demo: StoredDemo = { state: 'loading', items: [], problem: null }
    void this.#run(account.id, demo, async () => {
      await loadDemo({
        client,
        number: 1,
        signal: this.#closing.signal,
        onItem: (item) => {
          if (!demo.items.includes(item)) demo.items.push(item)
          this.#keep(account.id, demo)
        },
      })
      demo.state = 'loaded'
    })
    return demo
  }

  remove({ account, api_key }: KeyHolder): DemoView {
    const { state, items } = this.view(account.id)
    if (state !== 'loaded' && state !== 'failed')
      throw new HttpError('conflict', state === 'none' ? 'There is no demo data' : 'The demo data is still changing')
    const demo: StoredDemo = { state: 'removing', items, problem: null }
    void this.#run(account.id, demo, async () => {
      await removeDemo(clientFor(api_key), items)
      this.#store.remove(account.id)
    })
    return demo
  }

  close(): void {
    this.#closing.abort()
    this.#store.close()
  }

  async #run(account: string, demo: StoredDemo, work: () => Promise<void>): Promise<void> {
    this.#current.set(account, demo)
    this.#keep(account, demo)
    const wasRemoving = demo.state === 'removing'
    try {
      await work()
    } catch (error) {
      demo.state = 'failed'
      demo.problem = error instanceof ApiError ? error.message : 'The demo data could not be changed'
    }
    if (!wasRemoving || demo.state === 'failed') this.#keep(account, demo)
    this.#current.delete(account)
  }

  #keep(account: string, demo: StoredDemo): void {
    if (!this.#closing.signal.aborted) this.#store.put(account, demo)
  }

  #requireAvailable(account: string): void {
    const { state } = this.view(account)
    if (state === 'unavailable')
      throw new HttpError('conflict', 'Demo data needs the local service that the console starts itself')
    if (state !== 'none') throw new HttpError('conflict', 'The account already has demo data')
  }
}

/** Axons don't count, because the service lists deleted ones too. */
const isEmpty = async (client: Client): Promise<boolean> => {
  const query = { limit: 1 }
  const [{ devboxes }, { jobs }] = await Promise.all([
    client.devboxes.list({ query }),
    client.benchmarkJobs.list({ query }),
  ])
  return devboxes.length + jobs.length === 0
}

export const demos = slot(
  'demos',
  () => new Demos(),
  (current) => current.close(),
)

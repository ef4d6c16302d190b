import { setTimeout as wait } from 'node:timers/promises'
import { accounts } from '#lib/contract/accounts.ts'
import { type Endpoint, fillPath } from '#lib/contract/endpoint.ts'
import { endpoints } from '#lib/contract/index.ts'
import { publicParameters, type ServiceSupport } from '#lib/protocol/support.ts'
import type { KeyHolder } from '../accounts/types.ts'
import type { ProxyHook } from '../proxy/proxy.ts'
import { registry, slot } from '../registry/registry.ts'
import { bearer, storedAccount } from '../upstream/client.ts'
import { serviceNow } from '../upstream/clock.ts'
import { judge } from './judge.ts'
import { probed, probeLists, readHealth, withoutExtensions } from './probe.ts'
import { type StoredSupport, SupportStore } from './support-store.ts'

/** A service that reports no version is probed again after this time. */
const maxAgeMs = 24 * 3600_000
const checkTimeoutMs = 5_000

interface Learning {
  isComplete: boolean
  /** Done when the health response is known; later probes only add to it. */
  first: Promise<void>
  whole: Promise<void>
}

const state = slot(
  'serviceSupport',
  () => ({
    store: new SupportStore(registry().config.dataDir),
    /** Since the console started, by account. */
    learning: new Map<string, Learning>(),
    ending: new AbortController(),
  }),
  ({ store, ending }) => {
    ending.abort()
    store.close()
  },
)

type State = ReturnType<typeof state>

// Given the state, since a late response must not open the database of a closed console again.
const update = ({ store, ending }: State, key: string, change: (learned: StoredSupport) => StoredSupport) => {
  const learned = ending.signal.aborted ? undefined : store.get(key)
  if (learned) store.put(key, change(learned))
}

const set = (into: State, key: string, { id }: Pick<Endpoint, 'id'>, support: 'yes' | 'no') =>
  update(into, key, (learned) => ({ ...learned, operations: { ...learned.operations, [id]: support } }))

/** Learns what the service offers, once per console process unless it is `again`. */
const learn = (holder: KeyHolder, again = false): Learning => {
  const own = state()
  const { store, learning, ending } = own
  const key = storedAccount(holder.account.id)
  const running = learning.get(key)
  if (running && !again) return running
  const health = readHealth()
  const first = health.then(({ version, operations }) => {
    if (ending.signal.aborted) return
    const known = store.get(key)
    const isCurrent = known && known.version === version && serviceNow() - known.learned_at_ms < maxAgeMs
    if (isCurrent && !again && !operations) return
    store.put(key, {
      version,
      learned_at_ms: serviceNow(),
      isListed: operations !== undefined,
      operations: operations ?? withoutExtensions(),
    })
  })
  const whole = first.then(async () => {
    if (ending.signal.aborted) return
    const learned = store.get(key)
    const isProbed = Object.values(learned?.operations ?? {}).includes('yes')
    if (learned?.isListed || (isProbed && !again)) return
    await probeLists(holder.api_key, (endpoint, support) => set(own, key, endpoint, support), ending.signal)
    update(own, key, (found) => ({ ...found, learned_at_ms: serviceNow() }))
  })
  const next: Learning = { isComplete: false, first, whole }
  void whole.then(
    () => {
      next.isComplete = true
    },
    () => undefined,
  )
  learning.set(key, next)
  for (const each of [first, whole])
    each.catch(() => {
      // An outage or a refused key: the next request tries again.
      if (learning.get(key) === next) learning.delete(key)
    })
  return next
}

const parameterNames = ({ query }: Endpoint): string[] =>
  Object.keys((query as { _zod: { def: { shape?: object } } } | undefined)?._zod.def.shape ?? {})

const viewOf = (holder: KeyHolder): ServiceSupport => {
  const learned = state().store.get(storedAccount(holder.account.id))
  const lists = endpoints.filter(({ method, query }) => method === 'GET' && query !== undefined)
  return {
    learned_at_ms: learned?.learned_at_ms ?? null,
    is_complete: state().learning.get(storedAccount(holder.account.id))?.isComplete ?? false,
    operations: learned?.operations ?? {},
    parameters: Object.fromEntries(
      lists.map((endpoint) => [
        endpoint.id,
        learned?.isListed ? parameterNames(endpoint) : publicParameters(endpoint.id),
      ]),
    ),
  }
}

const after = async (holder: KeyHolder, learned: Promise<void>, waitMs: number): Promise<ServiceSupport> => {
  await Promise.race([learned, wait(waitMs)]).catch(() => undefined)
  return viewOf(holder)
}

/** What is known now, at least from the health response if it arrives in time. */
export const currentSupport = (holder: KeyHolder, waitMs: number): Promise<ServiceSupport> =>
  after(holder, learn(holder).first, waitMs)

/** What is known once the probes are done, or after the time. */
export const probedSupport = (holder: KeyHolder, waitMs: number): Promise<ServiceSupport> =>
  after(holder, learn(holder).whole, waitMs)

export const learnAgain = async (holder: KeyHolder): Promise<ServiceSupport> => {
  await learn(holder, true).whole
  return viewOf(holder)
}

/** Whether the service is known to lack an operation. */
export const lacks = (holder: KeyHolder, { id }: Pick<Endpoint, 'id'>): boolean =>
  state().store.get(storedAccount(holder.account.id))?.operations[id] === 'no'

export const noteMissing = (holder: KeyHolder, endpoint: Pick<Endpoint, 'id'>): void => {
  if (!registry().service.embedded && !lacks(holder, endpoint))
    set(state(), storedAccount(holder.account.id), endpoint, 'no')
}

/** Whether a 401 means that the operation is missing, not that the key is refused. The probe decides for the lists. */
export const isMissingOperation = async (holder: KeyHolder, endpoint: Endpoint): Promise<boolean> => {
  if (registry().service.embedded) return false
  const known = state().store.get(storedAccount(holder.account.id))?.operations[endpoint.id]
  if (known === 'yes' || (known === undefined && probed.includes(endpoint))) return false
  return exists(accounts.me.path, holder)
}

const exists = async (path: string, { api_key }: KeyHolder): Promise<boolean> => {
  const response = await fetch(registry().service.url() + path, {
    headers: { accept: 'application/json', ...bearer(api_key) },
    redirect: 'manual',
    signal: AbortSignal.timeout(checkTimeoutMs),
  }).catch(() => undefined)
  await response?.body?.cancel()
  return response?.ok === true
}

const readable = new Set(endpoints.filter(({ method }) => method === 'GET').map(({ path }) => path))

/** Learns from what pages do. */
export const learnFromCall: ProxyHook = ({ endpoint, params, session }, { status }) => {
  const own = state()
  const key = storedAccount(session.account.id)
  const learned = own.store.get(key)
  if (!learned || learned.isListed || learned.operations[endpoint.id] === 'yes') return
  const support = judge(endpoint, status)
  if (support === 'yes' || support === 'no') {
    if (learned.operations[endpoint.id] !== support) set(own, key, endpoint, support)
  } else if (support === 'missing or absent' && learned.operations[endpoint.id] === undefined) {
    void hasParent(session, endpoint, params).then((exists) => exists && set(own, key, endpoint, 'no'))
  }
}

const parentPattern = /^(\/v1\/[^:]+\/:\w+)\/[^:]+$/

// `/v1/devboxes/:id/logs/tail` is missing if the devbox exists. A call with a body may name something else that is missing.
const hasParent = async (holder: KeyHolder, endpoint: Endpoint, params: Record<string, string>) => {
  const [, parent] = parentPattern.exec(endpoint.path) ?? []
  if (parent === undefined || endpoint.body !== undefined || !readable.has(parent)) return false
  return exists(fillPath(parent, params), holder)
}

import { setTimeout as pause } from 'node:timers/promises'
import { ApiError } from '#lib/client/api-error.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'
import { clientFor } from '../upstream/client.ts'
import { type DevboxStop, lastStop } from './alert-rules.ts'

export interface DevboxFacts {
  name: string | null
  metadata: Record<string, string>
  status: string | undefined
  stop?: DevboxStop | undefined
  /** Set for a devbox of a benchmark trial. */
  scenario_run_id?: string | undefined
}

export const callTimeoutMs = 10_000
/** An outage can look up thousands of devboxes at once. */
const maxLookups = 8
/** With this many lookups waiting, reading lists is faster. */
const listFrom = 100
const pageLimit = 1_000
const maxPages = 10
/** Lookups of one storm arrive within this time. */
const gatherMs = 50

interface Lookup {
  apiKey: string
  id: string
  isDone: boolean
  resolve(facts: DevboxFacts | undefined): void
}

/** Runs at most `max` lookups at once; the others wait in order. */
export const limitTo = (max: number) => {
  const waiting: (() => void)[] = []
  let running = 0
  return async <Result>(lookup: () => Promise<Result>): Promise<Result> => {
    if (running < max) running += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await lookup()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}

/** Looks up a few devboxes at once; the others wait in order. Reads lists when many wait. */
export const devboxLookups = () => {
  const limited = limitTo(maxLookups)
  /** Waiting lookups that no list was read for. */
  const unlisted = new Set<Lookup>()
  let isListing = false

  const readLists = async (apiKey: string) => {
    isListing = true
    while (unlisted.size >= listFrom) {
      await pause(gatherMs)
      // A lookup that starts during a request needs a newer state.
      const wanted = new Map([...unlisted].filter((each) => each.apiKey === apiKey).map((each) => [each.id, each]))
      unlisted.clear()
      await readList(apiKey, 'running', wanted)
      await readList(apiKey, 'suspended', wanted)
    }
    isListing = false
  }

  return (apiKey: string, id: string): Promise<DevboxFacts | undefined> =>
    new Promise((resolve) => {
      const lookup: Lookup = { apiKey, id, isDone: false, resolve }
      unlisted.add(lookup)
      void limited(async () => {
        unlisted.delete(lookup)
        if (!lookup.isDone) resolve(await describe(apiKey, id))
      })
      if (!isListing && unlisted.size >= listFrom) void readLists(apiKey)
    })
}

/** Completes the lookups of listed devboxes. */
const readList = async (
  apiKey: string,
  status: 'running' | 'suspended',
  wanted: Map<string, Lookup>,
): Promise<void> => {
  let starting_after: string | undefined
  for (let page = 0; page < maxPages && wanted.size > 0; page++) {
    const query = { status, limit: pageLimit, include_total_count: false, ...(starting_after && { starting_after }) }
    const { devboxes, has_more } = await clientFor(apiKey, callTimeoutMs)
      .devboxes.list({ query })
      .catch(() => ({ devboxes: [], has_more: false }))
    for (const devbox of devboxes) {
      const lookup = wanted.get(devbox.id)
      if (!lookup) continue
      wanted.delete(devbox.id)
      lookup.isDone = true
      lookup.resolve(factsOf(devbox))
    }
    starting_after = devboxes.at(-1)?.id
    if (!has_more || starting_after === undefined) return
  }
}

/** Undefined while the service does not respond; a missing devbox counts as shut down. */
const describe = async (apiKey: string, id: string): Promise<DevboxFacts | undefined> => {
  try {
    return factsOf(await clientFor(apiKey, callTimeoutMs).devboxes.get({ params: { id } }))
  } catch (error) {
    const isRemoved = error instanceof ApiError && error.status === 404
    return isRemoved ? { name: null, metadata: {}, status: 'shutdown' } : undefined
  }
}

const factsOf = ({ name = null, metadata, status, state_transitions, initiator_type, initiator_id }: Devbox) => ({
  name,
  metadata,
  status: status || undefined,
  stop: lastStop(state_transitions),
  scenario_run_id: (initiator_type === 'scenario' && initiator_id) || undefined,
})

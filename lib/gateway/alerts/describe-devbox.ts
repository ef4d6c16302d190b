import { ApiError } from '#lib/client/api-error.ts'
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

export const devboxLookups = () => {
  const limited = limitTo(maxLookups)
  return (apiKey: string, id: string) => limited(() => describe(apiKey, id))
}

/** Undefined while the service does not respond; a missing devbox counts as shut down. */
const describe = async (apiKey: string, id: string): Promise<DevboxFacts | undefined> => {
  try {
    const devbox = await clientFor(apiKey, callTimeoutMs).devboxes.get({ params: { id } })
    const { name = null, metadata, status, state_transitions, initiator_type, initiator_id } = devbox
    return {
      name,
      metadata,
      status: status || undefined,
      stop: lastStop(state_transitions),
      scenario_run_id: (initiator_type === 'scenario' && initiator_id) || undefined,
    }
  } catch (error) {
    const isRemoved = error instanceof ApiError && error.status === 404
    return isRemoved ? { name: null, metadata: {}, status: 'shutdown' } : undefined
  }
}

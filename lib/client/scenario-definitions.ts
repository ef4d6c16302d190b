import type { Client } from './client.ts'

export interface KnownScenario {
  name: string
  metadata: Record<string, string>
}

const pageRows = 500
const maxPages = 20
/** A service that ignores the job filter lists everything; the newest are most likely the job's own. */
const maxUnfilteredPages = 2

/** Definitions of a job's scenarios by id, without deleted ones. */
export const readDefinitions = async (
  benchmark_job_id: string,
  ids: readonly string[],
  api: { scenarios: Pick<Client['scenarios'], 'list'> },
  signal?: AbortSignal,
): Promise<Record<string, KnownScenario>> => {
  const missing = new Set(ids)
  const found: Record<string, KnownScenario> = {}
  const requested = new Set(ids)
  let pages = maxPages
  let after: string | undefined
  for (let page = 0; page < pages && missing.size > 0; page++) {
    const query = { benchmark_job_id, limit: pageRows, starting_after: after }
    const { scenarios, has_more } = await api.scenarios.list({ query, signal })
    for (const { id, name, metadata } of scenarios) if (missing.delete(id)) found[id] = { name, metadata }
    if (scenarios.some(({ id }) => !requested.has(id))) pages = maxUnfilteredPages
    after = scenarios.at(-1)?.id
    if (!has_more || after === undefined) break
  }
  return found
}

import { browserApi } from '#lib/browser/api/browser-api.ts'
import { scenarios } from '#lib/contract/scenarios.ts'

const pageApi = browserApi({ scenarios })
export type DefinitionApi = typeof pageApi

/** What the definition of a scenario says of it, beside what it asks for. */
export interface KnownScenario {
  name: string
  metadata: Record<string, string>
}

const pageRows = 500
const mostPages = 20
/** A service that cannot list those of a job lists all it has, of which the newest are most likely its own. */
const mostPagesOfAll = 2

/** The scenarios of a job, by their ids; those the service no longer lists are left out. */
export const readDefinitions = async (
  benchmark_job_id: string,
  ids: readonly string[],
  signal: AbortSignal,
  api: DefinitionApi = pageApi,
): Promise<Record<string, KnownScenario>> => {
  const missing = new Set(ids)
  const found: Record<string, KnownScenario> = {}
  const asked = new Set(ids)
  let pages = mostPages
  let after: string | undefined
  for (let page = 0; page < pages && missing.size > 0; page++) {
    const query = { benchmark_job_id, limit: pageRows, starting_after: after }
    const { scenarios, has_more } = await api.scenarios.list({ query, signal })
    for (const { id, name, metadata } of scenarios) if (missing.delete(id)) found[id] = { name, metadata }
    if (scenarios.some(({ id }) => !asked.has(id))) pages = mostPagesOfAll
    after = scenarios.at(-1)?.id
    if (!has_more || after === undefined) break
  }
  return found
}

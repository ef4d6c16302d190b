import { scenarios } from '#lib/contract/scenarios.ts'
import { browserApi } from '../api/browser-api.ts'

const pageApi = browserApi({ scenarios })
export type DefinitionApi = typeof pageApi

/** Scenarios that one call brings, and calls until no more are asked for: the newest are of the newest jobs. */
const pageRows = 500
const mostPages = 20

interface Asked {
  benchmark_id?: string
  signal: AbortSignal
}

export const readDefinitions = async (
  ids: readonly string[],
  { signal, ...filter }: Asked,
  api: DefinitionApi = pageApi,
): Promise<Record<string, { name: string; metadata: Record<string, string> }>> => {
  const missing = new Set(ids)
  const found: Record<string, { name: string; metadata: Record<string, string> }> = {}
  let after: string | undefined
  for (let page = 0; page < mostPages && missing.size > 0; page++) {
    const query = { ...filter, limit: pageRows, starting_after: after }
    const { scenarios, has_more } = await api.scenarios.list({ query, signal })
    for (const { id, name, metadata } of scenarios) if (missing.delete(id)) found[id] = { name, metadata }
    after = scenarios.at(-1)?.id
    if (!has_more || after === undefined) break
  }
  return found
}

export const readMetadataKeys = async (signal: AbortSignal, api: DefinitionApi = pageApi): Promise<string[]> => {
  const { keys } = await api.scenarios.metadataKeys({ signal })
  return keys
}

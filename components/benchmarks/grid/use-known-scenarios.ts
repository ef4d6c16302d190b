import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { benchmarkJobQueries } from '../job/queries.ts'
import { metadataKeyOf } from './grouping.ts'
import type { KnownScenarios } from './scenario-grid.ts'

/** The definitions of more scenarios, each with what it asks for, are read once somebody reaches for what they are needed for. */
const readAtOnce = 300

export interface Definitions {
  query: UseQueryResult<KnownScenarios>
  /** Has them read, if they are not yet. */
  ask: () => void
}

/** What the definitions of a job's scenarios say: names that no outcome tells yet, and metadata to group by. */
export const useKnownScenarios = (job: BenchmarkJob, group: string | undefined): Definitions => {
  const [isAsked, setIsAsked] = useState(false)
  const { ids, isNamed } = useMemo(() => {
    const named = new Set(
      (job.benchmark_outcomes ?? []).flatMap(({ scenario_outcomes }) =>
        scenario_outcomes.map(({ scenario_definition_id }) => scenario_definition_id),
      ),
    )
    const ids = new Set([...(job.job_spec?.scenario_ids ?? []), ...named])
    return { ids: [...ids], isNamed: named.size === ids.size }
  }, [job])
  const query = useQuery({
    ...benchmarkJobQueries.scenarios(job.id, ids),
    enabled: ids.length > 0 && (ids.length <= readAtOnce || !isNamed || isAsked || metadataKeyOf(group) !== null),
  })
  return { query, ask: useCallback(() => setIsAsked(true), []) }
}

import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { benchmarkJobQueries } from '../job/queries.ts'
import { metadataKeyOf } from './grid-view.ts'
import type { KnownScenarios } from './scenario-grid.ts'

/** More definitions than this are only loaded on demand. */
const maxEager = 300

export interface Definitions {
  query: UseQueryResult<KnownScenarios>
  load: () => void
}

export const useKnownScenarios = (job: BenchmarkJob, group: string | undefined): Definitions => {
  const [isRequested, setIsRequested] = useState(false)
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
    enabled: ids.length > 0 && (ids.length <= maxEager || !isNamed || isRequested || metadataKeyOf(group) !== null),
  })
  return { query, load: useCallback(() => setIsRequested(true), []) }
}

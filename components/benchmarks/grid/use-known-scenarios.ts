import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { benchmarkJobQueries } from '#lib/console/queries/benchmark-jobs.ts'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { metadataKeyOf } from './grouping.ts'
import type { KnownScenarios } from './scenario-grid.ts'

/** The definitions of a job's scenarios, where its grid needs them: for a name that no outcome tells yet, or for metadata. */
export const useKnownScenarios = (job: BenchmarkJob, group: string | undefined): UseQueryResult<KnownScenarios> => {
  const { ids, isWhole } = useMemo(() => {
    const named = new Set(
      (job.benchmark_outcomes ?? []).flatMap(({ scenario_outcomes }) =>
        scenario_outcomes.map(({ scenario_definition_id }) => scenario_definition_id),
      ),
    )
    const ids = new Set([...(job.job_spec?.scenario_ids ?? []), ...named])
    return { ids: [...ids], isWhole: named.size === ids.size }
  }, [job])
  return useQuery({
    ...benchmarkJobQueries.scenarios(job, ids),
    enabled: ids.length > 0 && (!isWhole || metadataKeyOf(group) !== null),
  })
}

'use client'
import { useQuery } from '@tanstack/react-query'
import { formatCount } from '#lib/browser/format.ts'
import type { BenchmarkRun } from '#lib/contract/benchmark-runs.ts'
import { threeDecimals } from '#lib/protocol/report-words.ts'
import { benchmarkRunQueries } from './queries.ts'

interface RunScoreProps {
  run: BenchmarkRun
  /** Fallback if the service does not report the count. */
  outcomes?: number | undefined
  isShort?: boolean
}

export const RunScore = ({ run, outcomes, isShort = false }: RunScoreProps) => {
  const { id, state, score } = run
  const known = run.n_scenario_runs ?? outcomes
  const { data } = useQuery({
    ...benchmarkRunQueries.scenarioRunCount(id),
    enabled: score != null && known === undefined,
  })
  const count = known ?? data
  if (score == null)
    return (
      <span className="text-muted">
        {state !== 'running' ? 'None' : isShort ? 'None yet' : 'None until the run ends'}
      </span>
    )
  return (
    <span
      className="tabular whitespace-nowrap"
      title={isShort ? 'n counts scenario runs, completed or not' : undefined}
    >
      <span className="font-medium">{threeDecimals(score)}</span>{' '}
      <span className="text-muted">
        (n = {count === undefined ? '…' : count === null ? 'not reported' : formatCount(count)}
        {!isShort && count !== null && ' scenario runs'})
      </span>
    </span>
  )
}

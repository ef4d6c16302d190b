'use client'
import { useQuery } from '@tanstack/react-query'
import { formatCount } from '#lib/browser/format.ts'
import type { BenchmarkRun } from '#lib/contract/benchmark-runs.ts'
import { threeDecimals } from '#lib/protocol/report-words.ts'
import { benchmarkRunQueries } from './queries.ts'

interface RunScoreProps {
  run: BenchmarkRun
  /** From elsewhere, where a service does not report it with its runs. */
  outcomes?: number | undefined
  /** Explains `n` on hover alone. */
  isShort?: boolean
}

/** The score of a run and how many scenario runs it was taken over, completed or not. */
export const RunScore = ({ run, outcomes, isShort = false }: RunScoreProps) => {
  const { id, state, score } = run
  const known = run.n_scenario_runs ?? outcomes
  const isAsked = score != null && known === undefined
  const { data } = useQuery({ ...benchmarkRunQueries.scenarioRunCount(id), enabled: isAsked })
  const count = known ?? data
  if (score == null)
    return (
      <span className="text-muted">
        {state !== 'running' ? 'None' : isShort ? 'None yet' : 'None before the run has ended'}
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

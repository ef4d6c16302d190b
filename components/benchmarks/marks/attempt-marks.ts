import type { BenchmarkJob, ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import {
  type Exclusion,
  exclusionTest,
  type IdentifiedAttempt,
  identifiedAttempts,
  type Label,
} from '#lib/protocol/marks.ts'
import type { AgentRow } from '../job-figures.ts'

export interface AttemptMark extends IdentifiedAttempt {
  /** Whether an exclusion keeps the attempt out of the figures on screen. */
  isExcluded: boolean
  exclusions: readonly Exclusion[]
  labels: readonly Label[]
}

/** Marks by outcome, for the rows of one job. */
export type AttemptMarks = ReadonlyMap<ScenarioOutcome, AttemptMark>

interface Marks {
  exclusions: readonly Exclusion[]
  labels: readonly Label[]
  isApplied: boolean
}

export const attemptMarks = (
  job: BenchmarkJob,
  agents: readonly AgentRow[],
  { exclusions, labels, isApplied }: Marks,
): AttemptMarks => {
  const byRun = new Map(identifiedAttempts(job).map((attempts) => [attempts[0]?.benchmark_run_id, attempts]))
  const isExcluded = exclusionTest(exclusions, job.id)
  const ofScenario = Map.groupBy(exclusions, ({ scenario_id }) => scenario_id)
  const ofAttempt = Map.groupBy(labels, ({ attempt_id }) => attempt_id)
  return new Map(
    agents.flatMap(({ key, outcome }) =>
      (outcome?.scenario_outcomes ?? []).flatMap((each, at): [ScenarioOutcome, AttemptMark][] => {
        const attempt = byRun.get(key)?.[at]
        if (!attempt) return []
        const isOwn = ({ attempt_id }: Exclusion) => attempt_id === null || attempt_id === attempt.attempt_id
        return [
          [
            each,
            {
              ...attempt,
              isExcluded: isApplied && isExcluded(attempt),
              exclusions: ofScenario.get(attempt.scenario_id)?.filter(isOwn) ?? [],
              labels: ofAttempt.get(attempt.attempt_id) ?? [],
            },
          ],
        ]
      }),
    ),
  )
}

export const isLabeled = ({ labels }: Pick<AttemptMark, 'labels'>, label: string): boolean =>
  labels.some((each) => each.label === label)

export const labelsInUse = (marks: AttemptMarks): string[] => [
  ...new Set([...marks.values()].flatMap(({ labels }) => labels.map(({ label }) => label))),
]

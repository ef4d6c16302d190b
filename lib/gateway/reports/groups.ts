import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { countOf, metricText, type NameOf, truncate } from '#lib/protocol/report-words.ts'
import type { GroupReport, PairFigures } from '#lib/protocol/reports.ts'
import type { AgentFigures, FailureRule, GroupFigures, JudgedJob, ScoreScale } from '#lib/statistics/figures.ts'
import { judgingGroups } from '#lib/statistics/groups.ts'
import type { JobSource } from './job-source.ts'
import { testedPairs } from './job-verdict.ts'
import { runInSteps } from './report-request.ts'

const maxKeys = 20

interface Grouped extends ScoreScale {
  agents: readonly AgentFigures[]
  pairs: readonly PairFigures[]
}

/** Groups the scenarios of the jobs by a metadata key of their definitions. */
export const groupReport = async (
  {
    source,
    jobs,
    judged,
    rule,
    name,
  }: {
    source: Pick<JobSource, 'metadata'>
    jobs: readonly Pick<BenchmarkJob, 'id'>[]
    judged: JudgedJob
    rule: FailureRule
    name: NameOf
  },
  key: string | undefined,
  report: Grouped,
): Promise<GroupReport> => {
  if (key === undefined) return { group: null, groups: null, group_notes: [] }
  const values = new Map<string, string>()
  const keys = new Set<string>()
  for (const job of jobs) {
    const ids = judged.agents.flatMap(({ job_id, outcomes }) =>
      job_id === job.id ? outcomes.map(({ scenario_id }) => scenario_id) : [],
    )
    for (const [id, metadata] of Object.entries(await source.metadata(job.id, [...new Set(ids)]))) {
      for (const each of Object.keys(metadata)) keys.add(each)
      const value = Object.hasOwn(metadata, key) ? metadata[key]?.trim() : undefined
      if (value) values.set(id, value)
    }
  }
  const groups = await runInSteps(judgingGroups(judged, rule, report, values))
  const tested = testedPairs(groups.flatMap(({ pairs }) => pairs))
  return {
    group: key,
    groups,
    group_notes: [
      ...(values.size > 0 ? [] : [unknownKey(key, [...keys].sort())]),
      ...reversals(report.agents, groups, name, judged.agents[0]?.metric),
      ...(tested === 0 ? [] : [`p is Holm-adjusted over ${countOf(tested, 'pair')} of all groups.`]),
    ],
  }
}

const unknownKey = (key: string, keys: readonly string[]): string =>
  keys.length === 0
    ? 'The service reports no metadata for these scenarios.'
    : `No scenario has the metadata key ${truncate(key)}. Keys: ${keys
        .slice(0, maxKeys)
        .map((each) => truncate(each))
        .join(', ')}${keys.length > maxKeys ? ', …' : ''}.`

/** Agents whose order in every group is the opposite of their order overall, because they were scored on other scenarios (Simpson 1951). */
const reversals = (
  agents: readonly AgentFigures[],
  groups: readonly GroupFigures[],
  name: NameOf,
  metric: string | null | undefined,
): string[] =>
  agents.flatMap((one) =>
    agents.flatMap((other) => {
      if (one.mean === null || other.mean === null || one.mean <= other.mean) return []
      const means = groups.flatMap((group) => {
        const [a, b] = [one, other].map(
          ({ benchmark_run_id }) => group.agents.find((each) => each.benchmark_run_id === benchmark_run_id)?.mean,
        )
        return a == null || b == null ? [] : [[a, b] as const]
      })
      return means.length > 1 && means.every(([a, b]) => a < b)
        ? [
            `${name(one)} has the higher mean overall (${metricText(metric, one.mean)} vs ${metricText(metric, other.mean)}), but ${name(other)} has it in every group: they were scored on different scenarios.`,
          ]
        : []
    }),
  )

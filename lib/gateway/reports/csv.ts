import { csvLines } from '#lib/wire/csv.ts'
import { namesOf } from '#lib/wire/report-words.ts'
import type { AgentFigures, AgentIdentity, CompareReport, PairFigures, Report } from '#lib/wire/reports.ts'

/**
 * One table of everything: `kind` tells an agent, a pair and an excluded scenario apart, and a column that a kind does
 * not have is empty. Numbers are not rounded.
 */
export const reportCsv = (report: Report | CompareReport): string => {
  const ks = ksOf(report.agents)
  const name = namesOf(report.agents)
  const rows = [
    ...report.agents.map((agent) => agentCells(agent, ks)),
    ...report.pairs.map(pairCells),
    ...report.excluded_scenarios.map(({ scenario_id, scenario_name, missing_from }) => ({
      kind: 'excluded_scenario',
      scenario_id,
      scenario_name,
      missing_from: missing_from.map((agent) => `${name(agent)}: ${agent.why}`).join('; '),
    })),
  ].map((row) => new Map<string, unknown>(Object.entries({ ...row, rule: report.rule, complete: report.complete })))
  const columns = [...new Set(['kind', ...rows.flatMap((row) => [...row.keys()])])]
  return csvLines([columns, ...rows.map((row) => columns.map((column) => row.get(column)))])
}

/** Every k that pass@k is told of. */
export const ksOf = (agents: readonly AgentFigures[]): string[] =>
  [...new Set(agents.flatMap(({ pass_at_k }) => Object.keys(pass_at_k ?? {})))].sort((a, b) => Number(a) - Number(b))

export const agentCells = ({ reasons, pass_at_k, pass_hat_k, ...figures }: AgentFigures, ks: readonly string[]) => ({
  kind: 'agent',
  ...figures,
  ...Object.fromEntries(ks.map((k) => [`pass_at_${k}`, pass_at_k?.[k] ?? null])),
  ...Object.fromEntries(ks.map((k) => [`pass_hat_${k}`, pass_hat_k?.[k] ?? null])),
  reasons: reasonCell(reasons),
})

export const reasonCell = (reasons: Readonly<Record<string, string>>) =>
  Object.entries(reasons)
    .map(([figure, reason]) => `${figure}: ${reason}`)
    .join('; ')

const pairCells = (pair: PairFigures) => {
  // Lists of scenarios are told by their length.
  const figures = Object.entries(pair)
    .map(([name, value]) => [name, Array.isArray(value) ? value.length : value] as const)
    .filter(([, value]) => typeof value !== 'object' || value === null)
  return {
    kind: 'pair',
    ...prefixed('a', pair.a),
    ...prefixed('b', pair.b),
    ...Object.fromEntries(figures),
    reasons: reasonCell(pair.reasons),
  }
}

const prefixed = (prefix: string, { agent_name, model_name, benchmark_run_id, job_id }: AgentIdentity) => ({
  [`${prefix}_agent_name`]: agent_name,
  [`${prefix}_model_name`]: model_name,
  [`${prefix}_benchmark_run_id`]: benchmark_run_id,
  [`${prefix}_job_id`]: job_id,
})

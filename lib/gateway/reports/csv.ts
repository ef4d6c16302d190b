import { csvLines } from '#lib/protocol/csv.ts'
import { namesOf } from '#lib/protocol/report-words.ts'
import type {
  AgentFigures,
  AgentIdentity,
  CompareReport,
  PairFigures,
  Report,
  ReportTable,
  TrendReport,
} from '#lib/protocol/reports.ts'
import { identityOf } from '#lib/statistics/judgment.ts'

/** Tables of jobs and comparisons besides the agents. */
export const tables = ['pairs', 'groups', 'group_pairs', 'excluded_scenarios', 'exclusions', 'labels'] as const

/** One table of a report, with unrounded numbers. Without rows only the name columns remain. */
export const reportCsv = (report: Report | CompareReport, of: ReportTable): string => {
  const ks = ksOf([...report.agents, ...(report.exclusions?.without?.agents ?? [])])
  const name = namesOf(report.agents)
  const identities = new Map(
    report.agents.map((agent) => {
      const { job_id: _, ...identity } = identityOf(agent)
      return [agent.benchmark_run_id, identity]
    }),
  )
  const [names, cells] = {
    agents: [
      ['agent_name', 'model_name'],
      withAndWithout(report, ({ agents }) => agents.map((agent) => agentCells(agent, ks))),
    ] as const,
    pairs: [
      ['a_agent_name', 'b_agent_name'],
      withAndWithout(report, ({ pairs }) =>
        pairs.map((pair) => ({ ...pairCells(pair), ...(pairs === report.pairs && gateCells(report, pair)) })),
      ),
    ] as const,
    failure_groups: [
      ['key', 'kind', 'title'],
      ('failure_groups' in report ? report.failure_groups : []).flatMap(({ agents, first: _, points, ...group }) =>
        agents.map((agent) => ({
          ...group,
          n_attempts: agent.n_attempts,
          points: agent.points,
          ...identities.get(agent.benchmark_run_id),
        })),
      ),
    ] as const,
    groups: [
      ['group', 'value', 'agent_name', 'model_name'],
      (report.groups ?? []).flatMap(({ value, agents }) =>
        agents.map(({ reasons, ...figures }) => ({
          group: report.group,
          value,
          ...figures,
          reasons: reasonCell(reasons),
        })),
      ),
    ] as const,
    group_pairs: [
      ['group', 'value', 'a_agent_name', 'b_agent_name'],
      (report.groups ?? []).flatMap(({ value, pairs }) =>
        pairs.map((pair) => ({ group: report.group, value, ...pairCells(pair) })),
      ),
    ] as const,
    excluded_scenarios: [
      ['scenario_id', 'scenario_name', 'missing_from'],
      report.excluded_scenarios.map(({ missing_from, ...scenario }) => ({
        ...scenario,
        missing_from: missing_from.map((agent) => `${name(agent)}: ${agent.why}`).join('; '),
      })),
    ] as const,
    exclusions: exclusionRows(report),
    labels: labelRows(report, report.agents),
  }[of]
  return csvTable(
    names,
    cells.map((row) => ({
      ...row,
      metric: report.metric,
      threshold: report.threshold,
      lower_is_better: report.lower_is_better,
      rule: report.rule,
      complete: report.complete,
      exclusions: 'exclusions' in row ? row.exclusions : exclusionsCell(report),
    })),
  )
}

type Marked = Pick<Report | CompareReport | TrendReport, 'exclusions' | 'labels'>

/** `applied`, `ignored`, or null if there are none. */
export const exclusionsCell = ({ exclusions }: Marked): string | null =>
  exclusions === null ? null : exclusions.applied ? 'applied' : 'ignored'

/** Rows of the report, then the same with exclusions ignored. */
const withAndWithout = (
  report: Report | CompareReport,
  rowsOf: (figures: Pick<Report, 'agents' | 'pairs'>) => readonly object[],
): readonly object[] => [
  ...rowsOf(report),
  ...(report.exclusions?.without ? rowsOf(report.exclusions.without) : []).map((row) => ({
    ...row,
    exclusions: 'ignored',
  })),
]

export const exclusionRows = ({ exclusions }: Marked) =>
  [
    ['job_id', 'scenario_id', 'scenario_name', 'attempt_id', 'reason', 'note', 'by'],
    (exclusions?.items ?? []).map(({ attempt, at_ms, ...item }) => ({
      ...item,
      at: new Date(at_ms).toISOString(),
      benchmark_run_id: attempt?.benchmark_run_id ?? null,
      attempt: attempt?.position ?? null,
    })),
  ] as const

export const labelRows = ({ labels }: Marked, agents: readonly AgentIdentity[]) =>
  [
    ['label', 'agent_name', 'model_name'],
    labels.flatMap(({ label, agents: counts }) =>
      counts.map(({ benchmark_run_id, n }) => {
        const agent = agents.find((each) => each.benchmark_run_id === benchmark_run_id)
        return {
          label,
          agent_name: agent?.agent_name,
          model_name: agent?.model_name,
          benchmark_run_id,
          job_id: agent?.job_id,
          n_attempts: n,
        }
      }),
    ),
  ] as const

export const csvTable = (names: readonly string[], rows: readonly object[]): string => {
  const columns = rows.length === 0 ? names : [...new Set(rows.flatMap((row) => Object.keys(row)))]
  return csvLines([columns, ...rows.map((row) => columns.map((column) => (row as Record<string, unknown>)[column]))])
}

export const ksOf = (agents: readonly AgentFigures[]): string[] =>
  [...new Set(agents.flatMap(({ pass_at_k }) => Object.keys(pass_at_k ?? {})))].sort((a, b) => Number(a) - Number(b))

export const agentCells = (
  { reasons, pass_at_k, pass_hat_k, metrics, ...figures }: AgentFigures,
  ks: readonly string[],
) => ({
  ...figures,
  ...Object.fromEntries(ks.map((k) => [`pass_at_${k}`, pass_at_k?.[k] ?? null])),
  ...Object.fromEntries(ks.map((k) => [`pass_hat_${k}`, pass_hat_k?.[k] ?? null])),
  ...Object.fromEntries(
    Object.entries(metrics).flatMap(([metric, { mean, ci_low, ci_high, n_scenarios }]) =>
      Object.entries({ mean, ci_low, ci_high, n: n_scenarios }).map(([figure, value]) => [
        `metric_${metric}_${figure}`,
        value,
      ]),
    ),
  ),
  reasons: reasonCell(reasons),
})

export const reasonCell = (reasons: Readonly<Record<string, string>>) =>
  Object.entries(reasons)
    .map(([figure, reason]) => `${figure}: ${reason}`)
    .join('; ')

const pairCells = (pair: PairFigures) => {
  const figures = Object.entries(pair)
    .map(([name, value]) => [name, Array.isArray(value) ? value.length : value] as const)
    .filter(([, value]) => typeof value !== 'object' || value === null)
  return {
    ...prefixed('a', pair.a),
    ...prefixed('b', pair.b),
    ...Object.fromEntries(figures),
    reasons: reasonCell(pair.reasons),
  }
}

const gateCells = (report: Report | CompareReport, { a }: PairFigures) => {
  const gate = 'gate' in report ? report.gate : null
  if (!gate) return {}
  const run = gate.runs.find((each) => each.a.benchmark_run_id === a.benchmark_run_id)
  return {
    gate: gate.kind,
    gate_margin: gate.margin,
    gate_passed: run?.passed ?? null,
    gate_decided: run?.decided ?? null,
    gate_bound: run?.bound ?? null,
    gate_reason: run?.reason ?? null,
  }
}

const prefixed = (prefix: string, agent: AgentIdentity) =>
  Object.fromEntries(Object.entries(identityOf(agent)).map(([name, value]) => [`${prefix}_${name}`, value]))

import { agentLabel } from '#lib/protocol/report-words.ts'
import type { TrendPoint, TrendReport } from '#lib/protocol/reports.ts'
import { agentCells, csvTable, ksOf, reasonCell } from './csv.ts'
import {
  code,
  count,
  list,
  metricLine,
  notes,
  number,
  p,
  page,
  range,
  sentences,
  table,
  text,
  time,
} from './markdown.ts'

/** One row per job, oldest first; `change_` columns compare with `change_from_job_id`. */
export const trendCsv = ({ points, rule, threshold }: TrendReport): string => {
  const ks = ksOf(points.map(({ figures }) => figures))
  return csvTable(
    ['job_id'],
    points.map((point) => ({ ...pointCells(point, ks, rule), metric: point.job.metric, threshold })),
  )
}

const pointCells = (
  { job, complete, figures, change, regression, incomparable }: TrendPoint,
  ks: readonly string[],
  rule: string,
) => {
  const { job_id, ...cells } = agentCells(figures, ks)
  return {
    job_id,
    job_name: job.name,
    job_state: job.state,
    job_create_time: time(job.create_time_ms),
    complete,
    rule,
    ...cells,
    change_from_job_id: change?.b.job_id ?? null,
    change_n: change?.n ?? null,
    change_difference: change?.difference ?? null,
    change_se: change?.se ?? null,
    change_ci_low: change?.ci_low ?? null,
    change_ci_high: change?.ci_high ?? null,
    change_p_value: change?.p_value ?? null,
    change_p_adjusted: change?.p_adjusted ?? null,
    change_significant: change?.significant ?? null,
    change_new_failures: change?.new_failures?.length ?? null,
    change_new_passes: change?.new_passes?.length ?? null,
    change_worse: change?.worse.length ?? null,
    change_better: change?.better.length ?? null,
    change_reasons: change ? reasonCell(change.reasons) : null,
    regression,
    incomparable: incomparable.map((each) => each.text).join('; '),
  }
}

export const trendMarkdown = (report: TrendReport): string => {
  const { data_set: set, points } = report
  return page(`Trend of ${text(agentLabel({ name: report.agent_name, model: report.model_name }))}`, [
    ...sentences(report.verdict),
    `Data set: ${text(set.benchmark_name ?? set.job_name)} (${code(set.job_id)}).${report.complete ? '' : ' **Incomplete.**'}`,
    ...metricLine(report),
    points.length === 0 ? 'No outcomes of this agent in the searched jobs.' : pointTable(points),
    ...points
      .filter(({ incomparable }) => incomparable.length > 0)
      .map(
        ({ job, incomparable }) =>
          `Other differences in ${text(job.name)}:\n\n${list(incomparable.map((each) => text(each.text)))}`,
      ),
    ...notes(report.notes),
  ])
}

const pointTable = (points: readonly TrendPoint[]) =>
  table(
    [
      'Job',
      'Created',
      'Mean',
      '95% CI',
      'Scenarios',
      'Change',
      '95% CI of change',
      'n',
      'Adjusted p',
      'New failures',
      'New passes',
      'Worse',
      'Better',
      'Regression',
    ],
    points.map(({ job, complete, figures, change, regression }) => [
      `${text(job.name)}${complete ? '' : ' (incomplete)'}`,
      time(job.create_time_ms),
      number(figures.mean),
      range(figures.ci_low, figures.ci_high),
      `${figures.n_scenarios}`,
      ...(change
        ? [
            number(change.difference),
            range(change.ci_low, change.ci_high),
            `${change.n}`,
            p(change.p_adjusted),
            count(change.new_failures?.length ?? null),
            count(change.new_passes?.length ?? null),
            `${change.worse.length}`,
            `${change.better.length}`,
          ]
        : ['n/a', 'n/a', 'n/a', 'n/a', 'n/a', 'n/a', 'n/a', 'n/a']),
      regression ?? (change?.difference == null ? 'n/a' : 'no'),
    ]),
  )

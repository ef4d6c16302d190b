import { agentLabel } from '#lib/protocol/report-words.ts'
import type { TrendPoint, TrendReport } from '#lib/protocol/reports.ts'
import { agentCells, csvTable, exclusionRows, exclusionsCell, ksOf, labelRows, reasonCell } from './csv.ts'
import {
  code,
  count,
  exclusions,
  labels,
  list,
  metricLine,
  none,
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
import { jobNameOf, pointsWithoutExclusions } from './trend-points.ts'

/** One row per job, oldest first; `change_` columns compare with `change_from_job_id`. */
export const trendCsv = (report: TrendReport, of: 'jobs' | 'exclusions' | 'labels'): string => {
  const { points, rule, threshold } = report
  const agents = points.map(({ figures }) => figures)
  if (of === 'exclusions') return csvTable(...exclusionRows(report))
  if (of === 'labels') return csvTable(...labelRows(report, agents))
  const ks = ksOf([...agents, ...(report.exclusions?.without?.agents ?? [])])
  const rows = [
    ...points.map((point) => ({ ...point, exclusions: exclusionsCell(report) })),
    ...(pointsWithoutExclusions(report) ?? []).map((point) => ({ ...point, exclusions: 'ignored' })),
  ]
  return csvTable(
    ['job_id'],
    rows.map(({ job, complete, figures, change, regression, incomparable, exclusions }) => {
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
        ...Object.fromEntries(changeFigures.map((figure) => [`change_${figure}`, change?.[figure] ?? null])),
        ...Object.fromEntries(changeLists.map((kind) => [`change_${kind}`, change?.[kind]?.length ?? null])),
        change_reasons: change ? reasonCell(change.reasons) : null,
        regression,
        incomparable: incomparable.map((each) => each.text).join('; '),
        metric: job.metric,
        threshold,
        exclusions,
      }
    }),
  )
}

const changeFigures = ['n', 'difference', 'se', 'ci_low', 'ci_high', 'p_value', 'p_adjusted', 'significant'] as const
const changeLists = ['new_failures', 'new_passes', 'worse', 'better'] as const

export const trendMarkdown = (report: TrendReport): string => {
  const { data_set: set, points } = report
  const agents = points.map(({ figures }) => figures)
  const name = jobNameOf(report)
  return page(`Trend of ${text(agentLabel({ name: report.agent_name, model: report.model_name }))}`, [
    ...sentences(report.verdict),
    `Dataset: ${text(set.benchmark_name ?? set.job_name)} (${code(set.job_id)}).${report.complete ? '' : ' **Incomplete.**'}`,
    ...metricLine(report),
    points.length === 0 ? 'No outcomes of this agent in the searched jobs.' : pointTable(points),
    ...points
      .filter(({ incomparable }) => incomparable.length > 0)
      .map(
        ({ job, incomparable }) =>
          `Other differences in ${text(job.name)}:\n\n${list(incomparable.map((each) => text(each.text)))}`,
      ),
    ...exclusions(report, agents, name, pointTable(pointsWithoutExclusions(report) ?? [])),
    ...labels(report, agents, name),
    ...notes(report.notes),
  ])
}

const pointTable = (points: readonly TrendPoint[]) =>
  table<TrendPoint>(
    [
      ['Job', ({ job, complete }) => `${text(job.name)}${complete ? '' : ' (incomplete)'}`],
      ['Created', ({ job }) => time(job.create_time_ms)],
      ['Mean', ({ job, figures }) => number(figures.mean, job.metric)],
      ['95% CI', ({ job, figures }) => range(figures.ci_low, figures.ci_high, job.metric)],
      ['Scenarios', ({ figures }) => `${figures.n_scenarios}`],
      ['Change', ({ job, change }) => number(change?.difference, job.metric)],
      ['95% CI of change', ({ job, change }) => range(change?.ci_low, change?.ci_high, job.metric)],
      ['n', ({ change }) => count(change?.n)],
      ['Adjusted p', ({ change }) => p(change?.p_adjusted)],
      ['New failures', ({ change }) => count(change?.new_failures?.length)],
      ['New passes', ({ change }) => count(change?.new_passes?.length)],
      ['Worse', ({ change }) => count(change?.worse.length)],
      ['Better', ({ change }) => count(change?.better.length)],
      ['Regression', ({ regression, change }) => regression ?? (change?.difference == null ? none : 'no')],
    ],
    points,
  )

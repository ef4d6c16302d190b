import Link from 'next/link'
import type { Column } from '#components/list/column.ts'
import { DataTable } from '#components/list/data-table.tsx'
import { Chips } from '#components/ui/choice/chips.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatDurationMs } from '#lib/browser/format.ts'
import { changeRules, comparedScenarios, metricText, runNames } from '#lib/protocol/report-words.ts'
import type { AgentIdentity, CompareReport, ReportChoice, ScenarioChange } from '#lib/protocol/reports.ts'
import { jobViewPath } from '../job/search-params.ts'
import { sideBySidePath, sideText } from '../side-by-side/search-params.ts'
import { type ChangeKind, changeKinds } from './search-params.ts'

interface ChangeTableProps {
  report: CompareReport
  choice: ReportChoice
  chosen: ChangeKind | undefined
  onChoose: (kind: ChangeKind) => void
}

const labels: Record<ChangeKind, string> = {
  new_failures: 'New failures',
  worse: 'Worse',
  new_passes: 'New passes',
  better: 'Better',
  still_failing: 'Still failing',
  slower: 'Slower',
}

interface Row extends ScenarioChange {
  run: string
  key: string
  metric: string | null
  hrefs: readonly [before: string, after: string]
  sideBySide: string
}

export const ChangeTable = ({ report, choice, chosen, onChoose }: ChangeTableProps) => {
  const name = runNames(report)
  const count = (kind: ChangeKind) => report.pairs.reduce((sum, pair) => sum + (pair[kind] ?? []).length, 0)
  const kinds = changeKinds.filter((each) => report.pairs.some((pair) => pair[each] !== null))
  const first = kinds.find((each) => count(each) > 0) ?? kinds[0] ?? 'worse'
  const kind = chosen && kinds.includes(chosen) ? chosen : first
  const rows = report.pairs
    .flatMap((pair): Row[] =>
      (pair[kind] ?? []).map((change) => ({
        ...change,
        run: name(pair.a),
        metric: report.metric,
        key: `${pair.a.benchmark_run_id} ${change.scenario_id}`,
        hrefs: [outcomeHref(pair.b, change, choice), outcomeHref(pair.a, change, choice)],
        sideBySide: sideBySidePath({
          ...choice,
          scenario: change.scenario_id,
          a: sideOf(pair.a),
          b: sideOf(pair.b),
        }),
      })),
    )
    .sort(orders[kind])
  const compared = report.pairs.reduce((sum, { n }) => sum + n, 0)
  return (
    <section aria-label="Changed scenarios" className="space-y-2">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <h2 className="text-lg font-medium">Scenarios</h2>
        <Chips
          legend="Change"
          value={kind}
          options={kinds.map((each) => ({
            value: each,
            label: (
              <>
                {labels[each]} <span className="tabular text-muted">{formatCount(count(each))}</span>
              </>
            ),
          }))}
          onChange={onChoose}
        />
      </div>
      <p role="status" className="tabular text-sm text-muted">
        {formatCount(rows.length)} of {comparedScenarios(compared, report.pairs.length)}: {changeRules[kind]}
      </p>
      {rows.length > 0 && (
        <DataTable
          caption={labels[kind]}
          columns={report.pairs.length > 1 ? columns : columns.filter(({ id }) => id !== 'run')}
          rows={rows}
          rowKey={({ key }) => key}
        />
      )}
    </section>
  )
}

const outcomeHref = (
  { job_id, benchmark_run_id }: AgentIdentity,
  { scenario_id }: ScenarioChange,
  choice: ReportChoice,
): string => jobViewPath(job_id)({ ...choice, scenario: scenario_id, run: benchmark_run_id })

const sideOf = ({ job_id, benchmark_run_id }: AgentIdentity) => sideText({ job: job_id, run: benchmark_run_id })

const gain = ({ before, after }: ScenarioChange) => after - before
const delay = ({ duration_before_ms, duration_after_ms }: ScenarioChange) =>
  (duration_after_ms ?? 0) - (duration_before_ms ?? 0)

const orders: Record<ChangeKind, (a: ScenarioChange, b: ScenarioChange) => number> = {
  new_failures: (a, b) => gain(a) - gain(b),
  worse: (a, b) => gain(a) - gain(b),
  new_passes: (a, b) => gain(b) - gain(a),
  better: (a, b) => gain(b) - gain(a),
  still_failing: (a, b) => gain(a) - gain(b),
  slower: (a, b) => delay(b) - delay(a),
}

const duration = (ms: number | null) => (ms === null ? 'Unknown' : formatDurationMs(ms))

const OutcomeLink = ({ href, score, label }: { href: string; score: string; label: string }) => (
  <Link
    href={href}
    prefetch={false}
    title={`Open ${label} outcome`}
    className="relative z-1 text-accent underline underline-offset-2"
  >
    {score}
  </Link>
)

const columns: Column<Row>[] = [
  {
    id: 'scenario',
    header: 'Scenario',
    cell: ({ row }) => {
      const { scenario_name, scenario_id } = row.original
      return (
        <Link href={paths.scenario(scenario_id)} prefetch={false} className="hover:underline">
          <VisibleText max={120}>{scenario_name.trim() || scenario_id}</VisibleText>
        </Link>
      )
    },
    meta: { priority: 1, lines: () => 1 },
  },
  {
    id: 'run',
    header: 'Run',
    cell: ({ row }) => <VisibleText max={240}>{row.original.run}</VisibleText>,
    meta: { priority: 3, width: '28%', lines: () => 1 },
  },
  {
    id: 'score',
    header: 'Score (baseline to run)',
    cell: ({ row }) => {
      const { before, after, hrefs, metric } = row.original
      return (
        <>
          <OutcomeLink href={hrefs[0]} score={metricText(metric, before)} label="baseline" /> to{' '}
          <OutcomeLink href={hrefs[1]} score={metricText(metric, after)} label="this run's" />
        </>
      )
    },
    meta: { priority: 2, width: '13rem', align: 'right' },
  },
  {
    id: 'duration',
    header: 'Duration (baseline to run)',
    cell: ({ row }) => `${duration(row.original.duration_before_ms)} to ${duration(row.original.duration_after_ms)}`,
    meta: { priority: 3, width: '15rem', align: 'right' },
  },
  {
    id: 'side_by_side',
    header: 'Compare',
    cell: ({ row }) => (
      <TextLink href={row.original.sideBySide} prefetch={false} inRow>
        Side by side
      </TextLink>
    ),
    meta: { priority: 3, width: '8rem' },
  },
]

import { CircleCheck, CircleHelp } from 'lucide-react'
import Link from 'next/link'
import { Badge } from '#components/ui/badge.tsx'
import { DataTable } from '#components/ui/data-table.tsx'
import type { Column } from '#components/ui/data-table-row.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { formatCount, formatDurationMs } from '#lib/console/frame/format.ts'
import type { AgentFigures, ComparedPair, CompareReport } from '#lib/wire/reports.ts'
import { AgentName } from '../score.tsx'
import { sideNames } from './side-names.ts'

const Missing = ({ why = 'it cannot be computed' }: { why?: string | undefined }) => (
  <span className="text-muted" title={why}>
    None
  </span>
)

const three = (value: number) => value.toFixed(3).replace(/^-(0\.000)$/, '$1')
const signed = (value: number) => (value > 0 ? `+${three(value)}` : three(value))
const probability = (p: number) => (p < 0.0001 ? '< 0.0001' : p.toFixed(4))

/** Every agent of every job, as it stands by itself. */
export const SideTable = ({ report }: { report: CompareReport }) => (
  <section aria-label="Sides" className="space-y-2">
    <h2 className="text-lg font-medium">Side by side</h2>
    {report.agents.length === 0 ? (
      <p className="text-muted">No agent of these jobs has an outcome yet.</p>
    ) : (
      <DataTable
        caption="The agents that are compared"
        columns={sideColumns(report)}
        rows={report.agents}
        rowKey={({ benchmark_run_id }) => benchmark_run_id}
      />
    )}
  </section>
)

const sideColumns = ({ jobs }: CompareReport): Column<AgentFigures>[] => [
  {
    id: 'agent',
    header: 'Agent',
    priority: 1,
    cell: ({ agent_name, model_name }) => <AgentName name={agent_name} model={model_name} />,
  },
  {
    id: 'job',
    header: 'Job',
    priority: 3,
    width: '17%',
    cell: ({ job_id }) => (
      <Link href={paths.benchmarkJob(job_id)} className="relative z-1 text-accent hover:underline">
        <VisibleText truncate>{jobs.find(({ id }) => id === job_id)?.name ?? job_id}</VisibleText>
      </Link>
    ),
  },
  {
    id: 'mean',
    header: 'Mean score',
    priority: 2,
    width: '9rem',
    align: 'right',
    cell: ({ mean, n_scenarios, reasons }) =>
      mean === null ? (
        <Missing why={reasons.mean} />
      ) : (
        <span className="whitespace-nowrap">
          <b className="font-semibold">{three(mean)}</b>{' '}
          <span className="text-muted">(n = {formatCount(n_scenarios)})</span>
        </span>
      ),
  },
  {
    id: 'interval',
    header: '95 % interval',
    priority: 3,
    width: '9rem',
    align: 'right',
    cell: ({ ci_low, ci_high, reasons }) =>
      ci_low === null || ci_high === null ? <Missing why={reasons.ci_low} /> : `${three(ci_low)} to ${three(ci_high)}`,
  },
  {
    id: 'passes',
    header: 'Passes',
    priority: 3,
    width: '7rem',
    align: 'right',
    cell: ({ n_passed, n_scenarios }) => `${formatCount(n_passed)} of ${formatCount(n_scenarios)}`,
  },
  {
    id: 'counts',
    header: (
      <span title="Attempts completed · failed · timed out · cancelled">Done · failed · timed out · cancelled</span>
    ),
    priority: 3,
    width: '15.5rem',
    align: 'right',
    cell: ({ n_completed, n_failed, n_timeout, n_cancelled }) =>
      [n_completed, n_failed, n_timeout, n_cancelled].map(formatCount).join(' · '),
  },
  {
    id: 'duration',
    header: 'Median',
    priority: 3,
    width: '6.5rem',
    align: 'right',
    cell: ({ duration_median_ms, reasons }) =>
      duration_median_ms === null ? <Missing why={reasons.duration_median_ms} /> : formatDurationMs(duration_median_ms),
  },
]

/** Each side against its baseline, on the scenarios both have, with the test beside the difference. */
export const DifferenceTable = ({ report }: { report: CompareReport }) => {
  const name = sideNames(report)
  return (
    <section aria-label="Differences" className="space-y-2">
      <h2 className="text-lg font-medium">Differences from the baseline</h2>
      {report.pairs.length === 0 ? (
        <p className="text-muted">
          No side has a baseline: the baseline's job has no agent of the same name. Choose one of its agents as the
          baseline.
        </p>
      ) : (
        <DataTable
          caption="Differences from the baseline"
          columns={differenceColumns(name)}
          rows={report.pairs}
          rowKey={({ a }) => a.benchmark_run_id}
        />
      )}
    </section>
  )
}

const differenceColumns = (name: ReturnType<typeof sideNames>): Column<ComparedPair>[] => [
  {
    id: 'pair',
    header: 'Side over its baseline',
    priority: 1,
    cell: ({ a, b }) => <VisibleText truncate>{`${name(a)} over ${name(b)}`}</VisibleText>,
  },
  {
    id: 'difference',
    header: 'Difference',
    priority: 2,
    width: '10rem',
    align: 'right',
    cell: ({ difference, n, reasons }) =>
      difference === null ? (
        <Missing why={reasons.difference} />
      ) : (
        <span className="whitespace-nowrap">
          <b className="font-semibold">{signed(difference)}</b>{' '}
          <span className="text-muted">(n = {formatCount(n)})</span>
        </span>
      ),
  },
  {
    id: 'interval',
    header: '95 % interval',
    priority: 3,
    width: '10rem',
    align: 'right',
    cell: ({ ci_low, ci_high, reasons }) =>
      ci_low === null || ci_high === null ? (
        <Missing why={reasons.ci_low} />
      ) : (
        `${signed(ci_low)} to ${signed(ci_high)}`
      ),
  },
  {
    id: 'p',
    header: <span title="By flips of the signs of the differences · by Holm over the pairs">p · adjusted</span>,
    priority: 3,
    width: '9rem',
    align: 'right',
    cell: ({ p_value, p_adjusted, method, permutations, seed, reasons }) =>
      p_value === null || p_adjusted === null ? (
        <Missing why={reasons.p_value} />
      ) : (
        <span
          title={
            method === 'sign_flips_sampled'
              ? `${formatCount(permutations ?? 0)} sampled patterns of signs, seed ${seed}`
              : `All ${formatCount(permutations ?? 0)} patterns of signs`
          }
        >
          {probability(p_value)} · {probability(p_adjusted)}
        </span>
      ),
  },
  {
    id: 'discordant',
    header: (
      <span title="Scenarios that only the side passes · only its baseline; McNemar's exact p">Only one passes</span>
    ),
    priority: 3,
    width: '11rem',
    align: 'right',
    cell: ({ only_a_passes, only_b_passes, mcnemar_p }) => (
      <span className="whitespace-nowrap">
        {formatCount(only_a_passes)} · {formatCount(only_b_passes)}
        <span className="text-muted">{mcnemar_p === null ? '' : ` (p ${probability(mcnemar_p)})`}</span>
      </span>
    ),
  },
  {
    id: 'settled',
    header: 'Settled',
    priority: 3,
    width: '15rem',
    cell: ({ settled, scenarios_to_settle, reasons }) => (
      <span className="inline-flex items-center gap-2">
        <Badge tone={settled ? 'ok' : 'neutral'} icon={settled ? CircleCheck : CircleHelp}>
          {settled ? 'Settled' : 'Not settled'}
        </Badge>
        {!settled && (
          <span className="truncate text-sm text-muted" title={reasons.scenarios_to_settle}>
            {scenarios_to_settle === null ? '' : `needs about ${formatCount(scenarios_to_settle)}`}
          </span>
        )}
      </span>
    ),
  },
]

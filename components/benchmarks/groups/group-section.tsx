'use client'
import { useMemo, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Chips } from '#components/ui/choice/chips.tsx'
import { Scrolled } from '#components/ui/scrolled.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import { axisFor } from '#lib/protocol/plot-axes.ts'
import { byMean, metricText, type NameOf, sortPairs, swapped } from '#lib/protocol/report-words.ts'
import type { GroupFigures, GroupReport, PairFigures, Report } from '#lib/protocol/reports.ts'
import { Choice } from '../choice.tsx'
import { PairP, ScoreWithN, signed } from '../figures.tsx'
import { IntervalBar } from '../job/interval-bar.tsx'

interface GroupSectionProps {
  report: GroupReport & Pick<Report, 'agents' | 'pairs' | 'is_unit_range' | 'lower_is_better' | 'metric'>
  name: NameOf
  /** Metadata keys of the scenarios. */
  keys: readonly string[]
  chosen: string | undefined
  onChoose: (key: string | undefined) => void
}

const maxCollapsed = 30

export const GroupSection = ({ report, name, keys, chosen, onChoose }: GroupSectionProps) => {
  const { group, groups, group_notes } = report
  const [pairKey, setPairKey] = useState<string | null>(null)
  const [order, setOrder] = useState<'name' | 'difference'>('name')
  const [isExpanded, setIsExpanded] = useState(false)
  const pairs = useMemo(() => sortPairs(report.pairs), [report.pairs])
  const pair = pairs.find((each) => keyOf(each) === pairKey) ?? pairs[0]
  if (chosen === undefined && keys.length === 0) return null
  const rows = (groups ?? []).map((each) => ({ ...each, pair: pair && pairIn(each, pair) }))
  if (order === 'difference') rows.sort((a, b) => sizeOf(b.pair) - sizeOf(a.pair))
  const shown = isExpanded ? rows : rows.slice(0, maxCollapsed)
  return (
    <section aria-label="Groups" className="space-y-3">
      <div className="flex flex-wrap items-end gap-x-4 gap-y-2">
        <h2 className="text-lg font-medium">Groups</h2>
        <Choice
          label="Group by"
          value={chosen ?? ''}
          options={[
            { value: '', label: 'None' },
            ...[...new Set([...keys, ...(chosen === undefined ? [] : [chosen])])].map((key) => ({
              value: key,
              label: key,
            })),
          ]}
          onChange={(key) => onChoose(key || undefined)}
        />
        {rows.length > 0 && pair && (
          <>
            {pairs.length > 1 && (
              <Choice
                label="Difference"
                value={keyOf(pair)}
                options={pairs.map((each) => ({ value: keyOf(each), label: `${name(each.a)} vs ${name(each.b)}` }))}
                onChange={setPairKey}
              />
            )}
            <Chips
              legend="Order of groups"
              value={order}
              options={[
                { value: 'name', label: 'By name' },
                { value: 'difference', label: 'Largest difference first' },
              ]}
              onChange={setOrder}
            />
          </>
        )}
      </div>
      {groups !== null && (
        <>
          <Scrolled className="relative overflow-x-auto">
            <GroupTable report={report} name={name} rows={shown} pair={pair} caption={`Groups by ${group}`} />
          </Scrolled>
          {rows.length > maxCollapsed && (
            <p className="flex items-center gap-3 text-sm text-muted">
              <span className="tabular" role="status">
                Showing {formatCount(shown.length)} of {formatCount(rows.length)} groups
              </span>
              <Button size="sm" onClick={() => setIsExpanded(!isExpanded)}>
                {isExpanded ? 'Show fewer' : 'Show all'}
              </Button>
            </p>
          )}
          {group_notes.map((note) => (
            <p key={note} className="max-w-prose text-sm text-muted">
              <VisibleText>{note}</VisibleText>
            </p>
          ))}
        </>
      )}
    </section>
  )
}

interface GroupTableProps extends Pick<GroupSectionProps, 'report' | 'name'> {
  rows: readonly (GroupFigures & { pair: PairFigures | undefined })[]
  pair: PairFigures | undefined
  caption: string
}

const headClass = 'align-bottom border-b border-line px-3 py-1 font-medium text-muted'
const cellClass = 'border-b border-line px-3 py-1.5 align-top'

const GroupTable = ({ report, name, rows, pair, caption }: GroupTableProps) => {
  const { is_unit_range, lower_is_better, metric } = report
  const agents = report.agents.toSorted(
    byMean(
      ({ agent_name }) => agent_name,
      (figures) => figures,
      lower_is_better,
    ),
  )
  const ends = rows.flatMap((row) => row.agents.flatMap(({ mean, ci_low, ci_high }) => [mean, ci_low, ci_high]))
  const axis = is_unit_range ? { low: 0, high: 1 } : axisFor(ends.filter((end) => end !== null))
  return (
    <table className="tabular text-left whitespace-nowrap">
      <caption className="sr-only">{caption}</caption>
      <thead>
        <tr>
          <th scope="col" className={`${headClass} sticky left-0 z-1 bg-surface-0`}>
            Group
          </th>
          {pair && (
            <>
              <th scope="col" className={headClass} title={`${name(pair.a)} vs ${name(pair.b)}`}>
                Difference
              </th>
              <th scope="col" className={headClass}>
                95% CI
              </th>
              <th scope="col" className={headClass} title="Sign-flip test; Holm-adjusted over the pairs of all groups">
                p · adjusted
              </th>
            </>
          )}
          {agents.map((agent) => (
            <th key={agent.benchmark_run_id} scope="col" className={`${headClass} min-w-36 max-w-48 whitespace-normal`}>
              <VisibleText max={60}>{name(agent)}</VisibleText>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.value === null ? 'not set' : `value ${row.value}`}>
            <th
              scope="row"
              className={`${cellClass} sticky left-0 z-1 min-w-28 max-w-60 bg-surface-0 font-medium whitespace-normal`}
            >
              {row.value === null ? (
                <i className="font-normal">not set</i>
              ) : (
                <VisibleText max={120}>{row.value}</VisibleText>
              )}
            </th>
            {row.pair && <PairCells pair={row.pair} metric={metric} />}
            {agents.map(({ benchmark_run_id }) => {
              const figures = row.agents.find((each) => each.benchmark_run_id === benchmark_run_id)
              return (
                <td key={benchmark_run_id} className={cellClass}>
                  {figures && <GroupMean figures={figures} axis={axis} metric={metric} />}
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface GroupMeanProps {
  figures: GroupFigures['agents'][number]
  axis: { low: number; high: number }
  metric: string | null
}

const GroupMean = ({ figures, axis, metric }: GroupMeanProps) => {
  const { mean, ci_low, ci_high, n_scenarios, n_attempts, reasons } = figures
  if (mean === null) return <Dash why={reasons.mean} />
  return (
    <span className="block space-y-0.5 leading-4" title={`${formatCount(n_attempts)} counted attempts`}>
      <ScoreWithN score={metricText(metric, mean)} n={n_scenarios} />
      <span className="block w-32">
        <IntervalBar value={mean} low={ci_low} high={ci_high} from={axis.low} to={axis.high} />
      </span>
      <span className="block text-xs leading-4 text-muted">
        {ci_low === null || ci_high === null ? (
          <Dash why={reasons.ci_low} />
        ) : (
          `${metricText(metric, ci_low)} to ${metricText(metric, ci_high)}`
        )}
      </span>
    </span>
  )
}

const PairCells = ({ pair, metric }: { pair: PairFigures; metric: string | null }) => {
  const { difference, n, ci_low, ci_high, p_value, reasons } = pair
  return (
    <>
      <td className={cellClass}>
        {difference === null ? (
          <Dash why={reasons.difference} />
        ) : (
          <ScoreWithN score={signed(difference, metric)} n={n} />
        )}
      </td>
      <td className={cellClass}>
        {ci_low === null || ci_high === null ? (
          <Dash why={reasons.ci_low} />
        ) : (
          `${signed(ci_low, metric)} to ${signed(ci_high, metric)}`
        )}
      </td>
      <td className={cellClass}>{p_value === null ? <Dash why={reasons.p_value} /> : <PairP pair={pair} />}</td>
    </>
  )
}

const Dash = ({ why }: { why: string | undefined }) => (
  <span className="text-muted" title={why}>
    <span aria-hidden>–</span>
    <span className="sr-only">{why ?? 'Not available'}</span>
  </span>
)

const keyOf = ({ a, b }: PairFigures): string => [a.benchmark_run_id, b.benchmark_run_id].sort().join(' ')

/** The group's figures of a pair, with the same agent first. */
const pairIn = ({ pairs }: GroupFigures, pair: PairFigures): PairFigures | undefined => {
  const found = pairs.find((each) => keyOf(each) === keyOf(pair))
  return found && found.a.benchmark_run_id !== pair.a.benchmark_run_id ? swapped(found) : found
}

const sizeOf = (pair: PairFigures | undefined): number => (pair?.difference == null ? -1 : Math.abs(pair.difference))

'use client'
import type { ReactNode } from 'react'
import { Scrolled } from '#components/ui/scrolled.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatDurationMs } from '#lib/browser/format.ts'
import { agentLabel, countOf } from '#lib/protocol/report-words.ts'
import type { FailureRule } from '#lib/protocol/reports.ts'
import { quantile, sumOf } from '#lib/statistics/means.ts'
import { metadataKeyOf } from '../grid/grid-view.ts'
import { countedScore, type ScenarioRow } from '../grid/scenario-grid.ts'
import type { AgentRow } from '../job-figures.ts'

interface JobPlotsProps {
  rows: readonly ScenarioRow[]
  agents: readonly AgentRow[]
  rule: FailureRule
  group: string | undefined
}

type AgentPlotProps = Omit<JobPlotsProps, 'group'>

const agentsShown = 8
const groupsShown = 12

export const JobPlots = ({ rows, agents, rule, group }: JobPlotsProps) => {
  const shown = agents.slice(0, agentsShown)
  if (shown.every((_, at) => scoreCounts(rows, at, rule).every((count) => count === 0))) return null
  return (
    <section aria-label="Plots" className="space-y-6">
      <h2 className="text-lg font-medium">
        Score plots
        {agents.length > agentsShown && (
          <span className="font-normal text-muted">
            {' '}
            first {agentsShown} of {formatCount(agents.length)} agents
          </span>
        )}
      </h2>
      <Distribution rows={rows} agents={shown} rule={rule} />
      <ScoreAgainstDuration rows={rows} agents={shown} rule={rule} />
      {metadataKeyOf(group) === null && <PassesByGroup rows={rows} agents={shown} rule={rule} />}
    </section>
  )
}

const valuesClass = 'tabular mt-1 text-left [&_td]:text-right [&_thead]:whitespace-nowrap'

const Distribution = ({ rows, agents, rule }: AgentPlotProps) => {
  const all = agents.map((agent, at) => ({ agent, counts: scoreCounts(rows, at, rule) }))
  const most = Math.max(1, ...all.flatMap(({ counts }) => counts))
  return (
    <Plot
      title="Score distribution"
      axes="x: mean score per scenario, y: number of scenarios"
      table={
        <SmallTable
          className={valuesClass}
          head={['Agent', ...scoreBins.map((bin) => `Score ${bin}`), 'n']}
          rows={all.map(({ agent, counts }) => [
            agentLabel(agent),
            ...counts.map(formatCount),
            formatCount(sumOf(counts)),
          ])}
        />
      }
    >
      {all.map(({ agent, counts }) => (
        <Panel key={agent.key} agent={agent} n={`n = ${countOf(sumOf(counts), 'scenario')}`}>
          <svg viewBox="0 0 240 112" className="w-full" role="img" aria-label={`Distribution of ${agentLabel(agent)}`}>
            <line x1={0} x2={240} y1={88.5} y2={88.5} className="stroke-(--line-strong)" />
            {counts.map((count, bin) => {
              const height = (count / most) * 68
              const x = bin * 40 + 4
              return (
                <g key={scoreBins[bin]}>
                  <rect x={x} y={88 - height} width={32} height={height} className="fill-(--accent)" />
                  <text x={x + 16} y={84 - height} textAnchor="middle" className="fill-(--text) text-[10px]">
                    {formatCount(count)}
                  </text>
                  <text x={x + 16} y={102} textAnchor="middle" className="fill-(--text-muted) text-[9px]">
                    {scoreBins[bin]}
                  </text>
                </g>
              )
            })}
          </svg>
        </Panel>
      ))}
    </Plot>
  )
}

const ScoreAgainstDuration = ({ rows, agents, rule }: AgentPlotProps) => {
  const all = agents.map((agent, at) => ({ agent, points: timedScores(rows, at, rule) }))
  const longest = Math.max(
    1,
    ...all.map(({ points }) => points.reduce((most, { duration_ms }) => Math.max(most, duration_ms), 0)),
  )
  if (all.every(({ points }) => points.length === 0)) return null
  return (
    <Plot
      title="Score against duration"
      axes={`x: duration per attempt, 0 to ${formatDurationMs(longest)}; y: score, 0 to 1`}
      table={
        <SmallTable
          className={valuesClass}
          head={['Agent', ...scoreBins.map((bin) => `Median at score ${bin}`), 'n']}
          rows={all.map(({ agent, points }) => [
            agentLabel(agent),
            ...mediansByBin(points),
            formatCount(points.length),
          ])}
        />
      }
    >
      {all.map(({ agent, points }) => (
        <Panel key={agent.key} agent={agent} n={`n = ${countOf(points.length, 'attempt')}`}>
          <svg
            viewBox="0 0 240 112"
            className="w-full"
            role="img"
            aria-label={`Score against duration of ${agentLabel(agent)}`}
          >
            <g className="fill-(--text-muted) text-[9px]">
              <text x={14} y={13} textAnchor="end">
                1
              </text>
              <text x={14} y={91} textAnchor="end">
                0
              </text>
              <text x={20} y={108}>
                0
              </text>
              <text x={236} y={108} textAnchor="end">
                {formatDurationMs(longest)}
              </text>
            </g>
            <path d="M20 10V90H236" fill="none" className="stroke-(--line-strong)" />
            {/* One path, as a thousand elements would render slowly. */}
            <path
              d={points
                .map(
                  ({ score, duration_ms }) =>
                    `M${(20 + (duration_ms / longest) * 214).toFixed(1)} ${(90 - Math.min(1, Math.max(0, score)) * 80).toFixed(1)}h0`,
                )
                .join('')}
              fill="none"
              strokeLinecap="round"
              className="stroke-(--accent) stroke-[4] opacity-60"
            />
          </svg>
        </Panel>
      ))}
    </Plot>
  )
}

const mediansByBin = (points: ReturnType<typeof timedScores>): string[] => {
  const byBin = Map.groupBy(points, ({ score }) => binOf(score))
  return scoreBins.map((_, bin) => {
    const durations = (byBin.get(bin) ?? []).map(({ duration_ms }) => duration_ms)
    const median = quantile(durations, 0.5)
    return median === null ? '–' : formatDurationMs(median)
  })
}

const PassesByGroup = ({ rows, agents, rule }: AgentPlotProps) => {
  const groups = groupPasses(rows, agents.length, rule, ({ group }) => group)
  if (groups.length < 2) return null
  const shown = groups.slice(0, groupsShown)
  return (
    <figure className="space-y-2">
      <figcaption>
        <span className="font-medium">Pass rate by group</span>{' '}
        <span className="text-sm text-muted">
          Grouped by shared name prefix. Showing the largest {formatCount(shown.length)} of {formatCount(groups.length)}
          .
        </span>
      </figcaption>
      <SmallTable
        className="text-left text-sm [&_tbody]:tabular print:w-full print:table-fixed [&_tbody]:whitespace-nowrap print:[&_tbody]:whitespace-normal"
        head={['Group', ...agents.map(agentLabel)]}
        rows={shown.map((each) => [each.name, ...each.agents.map(passRate)])}
      />
    </figure>
  )
}

const passRate = ({ passes, n }: { passes: number; n: number }) =>
  n === 0 ? (
    <span className="text-muted">none</span>
  ) : (
    <span className="flex items-center gap-2 print:flex-wrap print:gap-x-1">
      <svg aria-hidden viewBox="0 0 60 10" className="h-2.5 w-15 shrink-0">
        <rect width={60} height={10} className="fill-(--surface-3)" />
        <rect width={(passes / n) * 60} height={10} className="fill-(--accent)" />
      </svg>
      {(passes / n).toFixed(2)}{' '}
      <span className="text-muted">
        ({formatCount(passes)} of {formatCount(n)})
      </span>
    </span>
  )

interface PlotProps {
  title: string
  axes: string
  table: ReactNode
  children: ReactNode
}

const Plot = ({ title, axes, table, children }: PlotProps) => (
  <figure className="space-y-2">
    <figcaption>
      <span className="font-medium">{title}</span> <span className="text-sm text-muted">{axes}</span>
    </figcaption>
    <div className="grid grid-cols-[repeat(auto-fill,minmax(14rem,1fr))] gap-x-6 gap-y-3">{children}</div>
    <details className="text-sm">
      <summary className="w-fit text-muted hover:text-text">Show as table</summary>
      {table}
    </details>
  </figure>
)

const Panel = ({ agent, n, children }: { agent: AgentRow; n: string; children: ReactNode }) => (
  <div className="min-w-0">
    <p className="flex justify-between gap-2 text-sm">
      <VisibleText truncate>{agentLabel(agent)}</VisibleText>
      <span className="tabular shrink-0 text-muted">{n}</span>
    </p>
    {children}
  </div>
)

interface SmallTableProps {
  className: string
  head: readonly string[]
  rows: readonly (readonly [name: string, ...cells: ReactNode[]])[]
}

const SmallTable = ({ className, head, rows }: SmallTableProps) => (
  <Scrolled className="overflow-x-auto">
    <table className={className}>
      <thead>
        <tr>
          {head.map((word, column) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: an agent is its column
            <th key={column} scope="col" className="border-b border-line px-3 py-1 font-medium text-muted">
              <VisibleText max={60}>{word}</VisibleText>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, ...cells], row) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an agent is its row
          <tr key={row}>
            <th scope="row" className="border-b border-line px-3 py-1 font-medium">
              <VisibleText max={60}>{name}</VisibleText>
            </th>
            {cells.map((cell, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a column is its number
              <td key={column} className="border-b border-line px-3 py-1">
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </Scrolled>
)

/** 0 and 1 have their own bins; other scores are grouped in quarters. */
const scoreBins = ['0', 'to 0.25', 'to 0.5', 'to 0.75', 'below 1', '1'] as const

const binOf = (score: number): number => (score <= 0 ? 0 : score >= 1 ? 5 : Math.min(4, Math.ceil(score * 4)))

export const scoreCounts = (rows: readonly ScenarioRow[], at: number, rule: FailureRule): number[] => {
  const counts = scoreBins.map(() => 0)
  for (const { cells } of rows) {
    const score = cells[at]?.score[rule] ?? null
    if (score !== null) counts[binOf(score)] = (counts[binOf(score)] ?? 0) + 1
  }
  return counts
}

export const timedScores = (rows: readonly ScenarioRow[], at: number, rule: FailureRule) =>
  rows.flatMap(({ cells }) =>
    (cells[at]?.attempts ?? []).flatMap((attempt) => {
      const score = countedScore(attempt, rule)
      return score === null || attempt.duration_ms == null ? [] : [{ score, duration_ms: attempt.duration_ms }]
    }),
  )

export const groupPasses = (
  rows: readonly ScenarioRow[],
  agents: number,
  rule: FailureRule,
  groupOf: (row: ScenarioRow) => string,
) =>
  [...Map.groupBy(rows, groupOf)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([name, members]) => ({
      name,
      agents: Array.from({ length: agents }, (_, at) => {
        const passes = members.flatMap(({ cells }) => cells[at]?.passes[rule] ?? [])
        return { passes: passes.filter(Boolean).length, n: passes.length }
      }),
    }))

'use client'
import type { ReactNode } from 'react'
import { Scrolled } from '#components/ui/scrolled.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatDurationMs } from '#lib/browser/format.ts'
import { agentLabel, countOf } from '#lib/protocol/report-words.ts'
import type { FailureRule } from '#lib/protocol/reports.ts'
import { quantile, sumOf } from '#lib/statistics/means.ts'
import { groupingOf } from '../grid/grid-view.ts'
import type { ScenarioRow } from '../grid/scenario-grid.ts'
import type { AgentRow } from '../job-figures.ts'
import { binOf, groupPasses, scoreBins, scoreCounts, type TimedScore, timedScores } from './plot-points.ts'

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
      <PassesByGroup rows={rows} agents={shown} rule={rule} group={group} />
    </section>
  )
}

const Distribution = ({ rows, agents, rule }: AgentPlotProps) => {
  const all = agents.map((agent, at) => ({ agent, counts: scoreCounts(rows, at, rule) }))
  const most = Math.max(1, ...all.flatMap(({ counts }) => counts))
  return (
    <Plot
      title="Score distribution"
      axes="x: mean score per scenario, y: number of scenarios"
      table={
        <PlotTable head={['Agent', ...scoreBins.map((bin) => `Score ${bin}`), 'n']}>
          {all.map(({ agent, counts }) => [agentLabel(agent), ...counts.map(formatCount), formatCount(sumOf(counts))])}
        </PlotTable>
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
        <PlotTable head={['Agent', ...scoreBins.map((bin) => `Median at score ${bin}`), 'n']}>
          {all.map(({ agent, points }) => [agentLabel(agent), ...mediansByBin(points), formatCount(points.length)])}
        </PlotTable>
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

const mediansByBin = (points: readonly TimedScore[]): string[] => {
  const byBin = Map.groupBy(points, ({ score }) => binOf(score))
  return scoreBins.map((_, bin) => {
    const durations = (byBin.get(bin) ?? []).map(({ duration_ms }) => duration_ms)
    const median = quantile(durations, 0.5)
    return median === null ? '–' : formatDurationMs(median)
  })
}

const PassesByGroup = ({ rows, agents, rule, group }: JobPlotsProps) => {
  const { of, description } = groupingOf(group)
  const groups = groupPasses(rows, agents.length, rule, of)
  if (groups.length < 2) return null
  const shown = groups.slice(0, groupsShown)
  return (
    <figure className="space-y-2">
      <figcaption>
        <span className="font-medium">Pass rate by group</span>{' '}
        <span className="text-sm text-muted">
          {description} Showing the largest {formatCount(shown.length)} of {formatCount(groups.length)}.
        </span>
      </figcaption>
      <Scrolled className="overflow-x-auto">
        <table className="text-left text-sm">
          <thead>
            <tr>
              <th scope="col" className="border-b border-line px-3 py-1 font-medium text-muted">
                Group
              </th>
              {agents.map((agent) => (
                <th key={agent.key} scope="col" className="border-b border-line px-3 py-1 font-medium text-muted">
                  <VisibleText max={60}>{agentLabel(agent)}</VisibleText>
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="tabular">
            {shown.map((group) => (
              <tr key={group.name}>
                <th scope="row" className="border-b border-line px-3 py-1 font-medium whitespace-nowrap">
                  <VisibleText max={60}>{group.name}</VisibleText>
                </th>
                {group.agents.map(({ passes, n }, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: an agent is its column
                  <td key={at} className="border-b border-line px-3 py-1 whitespace-nowrap">
                    {n === 0 ? (
                      <span className="text-muted">none</span>
                    ) : (
                      <span className="flex items-center gap-2">
                        <svg aria-hidden viewBox="0 0 60 10" className="h-2.5 w-15 shrink-0">
                          <rect width={60} height={10} className="fill-(--surface-3)" />
                          <rect width={(passes / n) * 60} height={10} className="fill-(--accent)" />
                        </svg>
                        {(passes / n).toFixed(2)}{' '}
                        <span className="text-muted">
                          ({formatCount(passes)} of {formatCount(n)})
                        </span>
                      </span>
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
    </figure>
  )
}

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

const PlotTable = ({ head, children }: { head: readonly string[]; children: readonly (readonly string[])[] }) => (
  <Scrolled className="overflow-x-auto">
    <table className="tabular mt-1 text-left">
      <thead>
        <tr>
          {head.map((word) => (
            <th
              key={word}
              scope="col"
              className="border-b border-line px-3 py-1 font-medium whitespace-nowrap text-muted"
            >
              {word}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {children.map(([first = '', ...rest], row) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an agent is its row
          <tr key={row}>
            <th scope="row" className="border-b border-line px-3 py-1 font-medium">
              <VisibleText max={60}>{first}</VisibleText>
            </th>
            {rest.map((value, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a column is its number
              <td key={column} className="border-b border-line px-3 py-1 text-right">
                {value}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </Scrolled>
)

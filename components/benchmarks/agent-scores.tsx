'use client'
import { useMemo, useState } from 'react'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import { type BenchmarkJob, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { agentLabel, byMean, threeDecimals, truncate } from '#lib/protocol/report-words.ts'
import { type AgentScore, agentRows, agentScores, shortLabels } from './job-figures.ts'

/** Agents shown before "and n more". */
export const maxAgents = 6

const maxMetricLength = 20

export const AgentScores = ({ job }: { job: BenchmarkJob }) => {
  const [isOpen, setIsOpen] = useState(false)
  // A job may have ten thousand outcomes.
  const rows = useMemo(() => scoredAgents(job), [job])
  if (rows.length === 0) return <span className="text-muted">{hasJobEnded(job.state) ? 'None' : 'None yet'}</span>
  const more = rows.length - maxAgents
  const { judged_metric } = job
  const metric = judged_metric && judged_metric !== 'reward' ? `${truncate(judged_metric, maxMetricLength)} ` : ''
  return (
    <>
      <ul className="grid w-fit max-w-full gap-x-1.5 text-sm leading-4 max-sm:gap-y-1 sm:grid-cols-[minmax(0,auto)_auto_auto]">
        {rows.slice(0, isOpen ? rows.length : maxAgents).map(({ key, label, title, state, score }) => (
          <li key={key} className="gap-x-1.5 max-sm:flex max-sm:flex-wrap sm:col-span-3 sm:grid sm:grid-cols-subgrid">
            <span className="min-w-0 max-sm:basis-full" title={title}>
              <VisibleText truncate={3}>{label}</VisibleText>
            </span>{' '}
            {score?.mean == null ? (
              <span className="text-right text-muted">{score || state === 'finished' ? 'no score' : state}</span>
            ) : (
              <b className="tabular text-right font-semibold">{threeDecimals(score.mean)}</b>
            )}{' '}
            <span className="tabular whitespace-nowrap text-muted">{score && `${metric}${nText(score)}`}</span>
          </li>
        ))}
      </ul>
      {more > 0 && (
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
          className="block text-sm leading-4 text-accent hover:underline"
        >
          {isOpen ? `Show only ${formatCount(maxAgents)}` : `and ${formatCount(more)} more`}
        </button>
      )}
    </>
  )
}

const scoredAgents = (job: BenchmarkJob) => {
  const agents = agentRows(job)
  const labels = shortLabels(agents)
  const scores = agentScores(job, agents)
  return agents
    .map((agent, at) => ({
      ...agent,
      label: labels[at] ?? '',
      title: agentLabel(agent),
      score: scores[at] ?? null,
    }))
    .sort(
      byMean(
        ({ name }) => name,
        ({ score }) => score,
      ),
    )
}

const nText = ({ n, of }: AgentScore): string =>
  n === of ? `(n = ${formatCount(of)})` : `(n = ${`${formatCount(n)} of ${formatCount(of)}`})`

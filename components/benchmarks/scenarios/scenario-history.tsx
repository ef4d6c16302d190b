'use client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { Column } from '#components/list/column.ts'
import { DataTable } from '#components/list/data-table.tsx'
import { Button } from '#components/ui/button.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { scenarioRunMatches } from '#lib/browser/lists/row-filters.ts'
import { threeDecimals } from '#lib/protocol/report-words.ts'
import { BenchmarkState } from '../benchmark-state.tsx'
import { Missing } from '../figure-text.tsx'
import { AttemptMark } from '../grid/grid-cell.tsx'
import { AgentName } from '../score.tsx'
import { agentTrendPath } from '../trend/search-params.ts'
import { durationOnceEnded, timeOrUnknown } from '../unknown-times.tsx'
import {
  type AgentHistory,
  agentHistories,
  type ScenarioAttempt,
  type ScenarioOutcomes,
  scenarioAttempts,
} from './outcomes.ts'
import { scenarioQueries } from './queries.ts'

const nothingKnown: ScenarioOutcomes = { agents: {}, outcomes: [], n_jobs: 0, has_older_jobs: false }

/** What agents have made of a scenario, over all jobs: by agent, and attempt by attempt. */
export const ScenarioHistory = ({ id }: { id: string }) => {
  const runs = useInfiniteQuery(scenarioQueries.runs(id))
  const outcomes = useQuery(scenarioQueries.outcomes(id))
  const isPending = runs.isPending || outcomes.isPending
  const loaded = runs.data?.pages.flatMap((page) => page.runs) ?? []
  // A service that ignores the scenario lists the runs of others, too, and counts them.
  const listed = loaded.filter(scenarioRunMatches({ scenario_id: id }))
  const total = listed.length < loaded.length ? null : runs.data?.pages[0]?.total_count
  const known = outcomes.data ?? nothingKnown
  const attempts = scenarioAttempts(listed, known)
  const histories = agentHistories(attempts)
  return (
    <section aria-label="History" className="space-y-3">
      <h2 className="text-lg font-medium">History</h2>
      {isPending ? (
        <SkeletonRows rows={4} columns={5} label="Reading the history" />
      ) : (
        <>
          {runs.error && <InlineError error={runs.error} />}
          {outcomes.error && <InlineError error={outcomes.error} />}
          {attempts.length === 0 ? (
            !runs.error && <p className="text-muted">No agent has tried this scenario yet.</p>
          ) : (
            <>
              <p role="status" className="tabular max-w-prose text-sm text-muted">
                {shownWords(attempts.length, listed.length, total, runs.hasNextPage)} {jobWords(known)}
              </p>
              <DataTable
                caption="What each agent made of the scenario"
                columns={agentColumns}
                rows={histories}
                rowKey={({ key }) => key || 'none'}
              />
              <h3 className="pt-3 font-medium">{formatCountOf(attempts.length, 'attempt')}</h3>
              <DataTable
                caption="Attempts at the scenario, newest first"
                columns={attemptColumns}
                rows={attempts}
                rowKey={({ key }) => key}
              />
              {runs.hasNextPage && (
                <Button size="sm" busy={runs.isFetchingNextPage} onClick={() => void runs.fetchNextPage()}>
                  Read older scenario runs
                </Button>
              )}
            </>
          )}
        </>
      )}
    </section>
  )
}

const shownWords = (attempts: number, runs: number, total: number | null | undefined, hasMore: boolean): string => {
  const of =
    total != null && Number.isFinite(total)
      ? `${formatCount(runs)} of ${formatCount(Math.max(total, runs))} scenario runs`
      : `${formatCount(runs)} scenario runs${hasMore ? ', more exist' : ''}`
  const others = attempts - runs
  return `Showing ${of}${others > 0 ? ` and ${formatCountOf(others, 'outcome')} without one` : ''}.`
}

const jobWords = ({ n_jobs, has_older_jobs }: ScenarioOutcomes): string => {
  const jobs = n_jobs === 1 ? 'newest job' : `${formatCount(n_jobs)} newest jobs`
  return `Agents and jobs are known of the ${jobs}${has_older_jobs ? '; older ones were not read' : ''}.`
}

/** As many as can be told apart at a glance. */
const marksShown = 16

const AgentOf = ({ agent }: Pick<AgentHistory, 'agent'>) =>
  agent ? (
    <AgentName name={agent.agent_name || 'Unnamed agent'} model={agent.model_name} />
  ) : (
    <span className="text-muted">Of no job that is known</span>
  )

const agentColumns: Column<AgentHistory>[] = [
  { id: 'agent', header: 'Agent', cell: ({ row }) => <AgentOf agent={row.original.agent} />, meta: { priority: 1 } },
  {
    id: 'passes',
    header: () => <span title="Attempts with a score of 1, of those that count">Passes</span>,
    cell: ({ row }) => {
      const { n_passed, n_counted } = row.original
      return n_passed === null ? (
        <Missing why="scores leave the range 0 to 1" />
      ) : (
        `${formatCount(n_passed)} of ${formatCount(n_counted)}`
      )
    },
    meta: { priority: 2, width: '7rem', align: 'right' },
  },
  {
    id: 'mean',
    header: () => (
      <span title="Over attempts; failures and attempts without a score count 0, what was cancelled counts nothing">
        Mean score
      </span>
    ),
    cell: ({ row }) => {
      const { mean, n_counted } = row.original
      return mean === null ? (
        <span className="text-muted">None</span>
      ) : (
        <span className="whitespace-nowrap">
          <b className="font-semibold">{threeDecimals(mean)}</b>{' '}
          <span className="text-muted">(n = {formatCount(n_counted)})</span>
        </span>
      )
    },
    meta: { priority: 3, width: '9rem', align: 'right' },
  },
  {
    id: 'marks',
    header: () => (
      <span title="A full square is a score of 1; E failed, T timed out, C cancelled">Attempts, newest last</span>
    ),
    cell: ({ row }) => {
      const { attempts } = row.original
      return (
        <span className="flex items-center gap-1">
          <span className="sr-only">{attempts.slice(0, marksShown).map(attemptWord).reverse().join(', ')}</span>
          {attempts.length > marksShown && (
            <span className="text-xs whitespace-nowrap text-muted">
              last {marksShown} of {formatCount(attempts.length)}
            </span>
          )}
          <span aria-hidden className="flex items-center gap-1">
            {attempts
              .slice(0, marksShown)
              .reverse()
              .map(({ key, outcome, state, score }) => (
                <AttemptMark key={key} attempt={{ state: outcome ?? state, score }} />
              ))}
          </span>
        </span>
      )
    },
    meta: { priority: 3, width: '17rem' },
  },
  {
    id: 'counts',
    header: () => <span title="Failed · timed out · cancelled">Failed · timed out · cancelled</span>,
    cell: ({ row }) => {
      const { n_failed, n_timeout, n_cancelled } = row.original
      return [n_failed, n_timeout, n_cancelled].map(formatCount).join(' · ')
    },
    meta: { priority: 3, width: '12.5rem', align: 'right' },
  },
  {
    id: 'jobs',
    header: 'Jobs',
    cell: ({ row }) => formatCount(row.original.n_jobs),
    meta: { priority: 3, width: '4.5rem', align: 'right' },
  },
  {
    id: 'trend',
    header: () => <span className="sr-only">Trend</span>,
    cell: ({ row }) => {
      const { agent, attempts } = row.original

      const job = attempts.find((attempt) => attempt.agent)?.agent?.job_id
      return (
        agent &&
        job && (
          <TextLink
            href={agentTrendPath(job, { name: agent.agent_name, model: agent.model_name })}
            title="The agent on the whole data set, job by job"
            inRow
          >
            Trend
          </TextLink>
        )
      )
    },
    meta: { priority: 3, width: '5.5rem' },
  },
]

const attemptWord = ({ outcome, state, score }: ScenarioAttempt): string =>
  outcome === 'COMPLETED' && score !== null ? threeDecimals(score) : state.toLowerCase()

const attemptColumns: Column<ScenarioAttempt>[] = [
  {
    id: 'agent',
    header: 'Agent',
    cell: ({ row }) => <AgentOf agent={row.original.agent} />,
    meta: { priority: 1 },
  },
  {
    id: 'job',
    header: 'Job',
    cell: ({ row }) => {
      const { agent } = row.original
      return (
        agent && (
          <TextLink href={paths.benchmarkJob(agent.job_id)} inRow>
            <VisibleText truncate>{agent.job_name || agent.job_id}</VisibleText>
          </TextLink>
        )
      )
    },
    meta: { priority: 3, width: '18%' },
  },
  {
    id: 'state',
    header: 'State',
    cell: ({ row }) => {
      const { scenario_run_id, outcome, state } = row.original
      return (
        <BenchmarkState
          of={outcome !== null && outcome === state ? 'outcome' : scenario_run_id ? 'scenario-run' : 'outcome'}
          state={state}
        />
      )
    },
    meta: { priority: 3, width: '8.5rem' },
  },
  {
    id: 'score',
    header: 'Score',
    cell: ({ row }) =>
      row.original.score === null ? (
        <span className="text-muted">None</span>
      ) : (
        <b className="font-semibold">{threeDecimals(row.original.score)}</b>
      ),
    meta: { priority: 2, width: '6rem', align: 'right' },
  },
  {
    id: 'failure',
    header: 'Failure',
    cell: ({ row }) =>
      row.original.failure && (
        <span title={row.original.failure.exception_message.slice(0, 1000)}>
          <VisibleText truncate>{row.original.failure.exception_type || 'Failed'}</VisibleText>
        </span>
      ),
    meta: { priority: 3 },
  },
  {
    id: 'run',
    header: 'Run',
    cell: ({ row }) =>
      row.original.benchmark_run_id && (
        <TextLink href={paths.benchmarkRun(row.original.benchmark_run_id)} title={row.original.benchmark_run_id} inRow>
          Open run
        </TextLink>
      ),
    meta: { priority: 3, width: '6.5rem' },
  },
  durationOnceEnded(({ outcome }) => outcome !== null),
  timeOrUnknown('Started', ({ time_ms }) => time_ms),
]

'use client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { DetailPage } from '#components/layout/detail-page.tsx'
import type { Column } from '#components/list/column.ts'
import { DataTable } from '#components/list/data-table.tsx'
import { Button } from '#components/ui/button.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { ScrolledText } from '#components/ui/scrolled.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatCountOf, formatDurationMs } from '#lib/browser/format.ts'
import { scenarioRunMatches } from '#lib/browser/lists/row-filters.ts'
import type { Scenario } from '#lib/contract/scenarios.ts'
import { threeDecimals } from '#lib/protocol/report-words.ts'
import { BenchmarkState } from '../benchmark-state.tsx'
import { durationOnceEnded, Missing, ScoreText, ScoreWithN, timeOrUnknown } from '../figures.tsx'
import { AttemptMark } from '../grid/grid-cell.tsx'
import { scenarioRunQueries } from '../run/queries.ts'
import { AgentName, TextFact } from '../score.tsx'
import { agentTrendPath } from '../trend/search-params.ts'
import {
  type AgentHistory,
  agentHistories,
  type ScenarioAttempt,
  type ScenarioOutcomes,
  scenarioAttempts,
} from './outcomes.ts'
import { scenarioQueries } from './queries.ts'
import { describeScorer, isHarborVerifier } from './scorer.ts'

export const ScenarioDetail = ({ id }: { id: string }) => (
  <DetailPage kind="scenario" query={useQuery(scenarioRunQueries.scenario(id))}>
    {(scenario) => (
      <>
        <PageHeader
          title={scenario.name || 'Unnamed scenario'}
          id={scenario.id}
          badge={<BenchmarkState of="definition" state={scenario.status} />}
        />
        <div className="space-y-8">
          <ScenarioHistory id={id} />
          <Instruction scenario={scenario} />
          <Verifier scenario={scenario} />
          <ScenarioFacts scenario={scenario} />
        </div>
      </>
    )}
  </DetailPage>
)

const Instruction = ({ scenario: { input_context, reference_output } }: { scenario: Scenario }) => (
  <section aria-label="Instruction" className="space-y-2">
    <h2 className="text-lg font-medium">Instruction</h2>
    {input_context.problem_statement ? (
      <ScrolledText prose className="max-h-96">
        {input_context.problem_statement}
      </ScrolledText>
    ) : (
      <p className="text-muted">No instruction.</p>
    )}
    {input_context.additional_context != null && (
      <details>
        <summary className="w-fit text-muted hover:text-text">Additional context</summary>
        <ScrolledText className="max-h-96">{JSON.stringify(input_context.additional_context, null, 2)}</ScrolledText>
      </details>
    )}
    {reference_output && (
      <details>
        <summary className="w-fit text-muted hover:text-text">Reference output</summary>
        <ScrolledText className="max-h-96">{reference_output}</ScrolledText>
      </details>
    )}
  </section>
)

const Verifier = ({ scenario: { scoring_contract, scorer_timeout_sec } }: { scenario: Scenario }) => {
  const functions = scoring_contract.scoring_function_parameters
  return (
    <section aria-label="Verifier" className="space-y-3">
      <h2 className="text-lg font-medium">Verifier</h2>
      <p className="max-w-prose text-sm text-muted">
        {functions.length === 0
          ? 'Scoring not reported.'
          : functions.length === 1
            ? functions[0] && isHarborVerifier(functions[0])
              ? 'The score is the reward that the job uses. It can be any number.'
              : 'The score is the result of one function, from 0 to 1.'
            : `The score is the weighted sum of ${formatCount(functions.length)} functions, from 0 to 1.`}
        {scorer_timeout_sec != null && ` Timeout: ${formatDurationMs(scorer_timeout_sec * 1000)}.`}
      </p>
      {functions.map(({ name, weight, scorer }, at) => {
        const { kind, rule, parts } = describeScorer(scorer, name)
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: functions may be unnamed
          <div key={at} className="space-y-1.5 border-l-2 border-line pl-3">
            <h3>
              <span className="font-medium">
                <VisibleText max={120}>{name || 'Unnamed'}</VisibleText>
              </span>{' '}
              <span className="text-muted">
                {Number.isFinite(weight) && `weight ${weight}; `}
                <VisibleText max={120}>{kind}</VisibleText>: {rule}
              </span>
            </h3>
            {parts.map(({ label, text }, part) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: paths may repeat
              <figure key={part} className="space-y-0.5">
                <figcaption className="text-sm text-muted">
                  <VisibleText max={200}>{label}</VisibleText>
                </figcaption>
                <ScrolledText className="max-h-96">{text}</ScrolledText>
              </figure>
            ))}
          </div>
        )
      })}
    </section>
  )
}

const ScenarioFacts = ({ scenario }: { scenario: Scenario }) => {
  const { environment, metadata, required_environment_variables, required_secret_names, validation_type } = scenario
  const launch = environment?.launch_parameters
  return (
    <section aria-label="Setup" className="space-y-2">
      <h2 className="text-lg font-medium">Setup</h2>
      <Facts>
        <Fact label="Metadata">
          <MetadataChips
            metadata={metadata}
            hrefFor={(key, value) => paths.scenarios({ metadata: [{ key, op: 'eq', value }] })}
            empty={<span className="text-muted">None</span>}
          />
        </Fact>
        <TextFact label="Validation" text={validation_type} />
        <TextFact mono label="Working directory" text={environment?.working_directory} />
        <TextFact mono label="Snapshot" text={environment?.snapshot_id} />
        <TextFact mono label="Blueprint" text={environment?.blueprint_id} />
        <TextFact mono label="Required variables" text={required_environment_variables?.join(', ')} />
        <TextFact mono label="Required secrets" text={required_secret_names?.join(', ')} />
        {launch && (
          <Fact label="Devbox">
            <details>
              <summary className="w-fit text-muted hover:text-text">Launch parameters</summary>
              <ScrolledText className="max-h-96">{JSON.stringify(launch, null, 2)}</ScrolledText>
            </details>
          </Fact>
        )}
      </Facts>
    </section>
  )
}

const noOutcomes: ScenarioOutcomes = { origins: {}, outcomes: [], n_jobs: 0, has_older_jobs: false }

const ScenarioHistory = ({ id }: { id: string }) => {
  const runs = useInfiniteQuery(scenarioQueries.runs(id))
  const outcomes = useQuery(scenarioQueries.outcomes(id))
  const isPending = runs.isPending || outcomes.isPending
  const loaded = runs.data?.pages.flatMap((page) => page.runs) ?? []
  // Some services ignore the scenario filter.
  const listed = loaded.filter(scenarioRunMatches({ scenario_id: id }))
  const total = listed.length < loaded.length ? null : runs.data?.pages[0]?.total_count
  const known = outcomes.data ?? noOutcomes
  const attempts = scenarioAttempts(listed, known)
  const histories = agentHistories(attempts)
  return (
    <section aria-label="History" className="space-y-3">
      <h2 className="text-lg font-medium">History</h2>
      {isPending ? (
        <SkeletonRows rows={4} columns={5} label="Loading history" />
      ) : (
        <>
          {runs.error && <InlineError error={runs.error} />}
          {outcomes.error && <InlineError error={outcomes.error} />}
          {attempts.length === 0 ? (
            !runs.error && <p className="text-muted">No attempts yet.</p>
          ) : (
            <>
              <p role="status" className="tabular max-w-prose text-sm text-muted">
                {coverageText(attempts.length, listed.length, total, runs.hasNextPage)} {jobCoverageText(known)}
              </p>
              <DataTable
                caption="Results by agent"
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
                  Load older scenario runs
                </Button>
              )}
            </>
          )}
        </>
      )}
    </section>
  )
}

const coverageText = (attempts: number, runs: number, total: number | null | undefined, hasMore: boolean): string => {
  const of =
    total != null && Number.isFinite(total)
      ? `${formatCount(runs)} of ${formatCount(Math.max(total, runs))} scenario runs`
      : `${formatCount(runs)} scenario runs${hasMore ? ' or more' : ''}`
  const others = attempts - runs
  return `Showing ${of}${others > 0 ? ` and ${formatCountOf(others, 'outcome')} without one` : ''}.`
}

const jobCoverageText = ({ n_jobs, has_older_jobs }: ScenarioOutcomes): string => {
  const jobs = n_jobs === 1 ? 'newest job' : `${formatCount(n_jobs)} newest jobs`
  return `Agents and jobs come from the ${jobs}${has_older_jobs ? '; older jobs are not included' : ''}.`
}

const maxMarks = 16

const AgentOf = ({ agent }: Pick<AgentHistory, 'agent'>) =>
  agent ? (
    <AgentName name={agent.agent_name || 'Unnamed agent'} model={agent.model_name} />
  ) : (
    <span className="text-muted">No job</span>
  )

const agentColumns: Column<AgentHistory>[] = [
  { id: 'agent', header: 'Agent', cell: ({ row }) => <AgentOf agent={row.original.agent} />, meta: { priority: 1 } },
  {
    id: 'passes',
    header: () => <span title="Counted attempts with a score of 1">Passes</span>,
    cell: ({ row }) => {
      const { n_passed, n_counted } = row.original
      return n_passed === null ? (
        <Missing why="Scores are outside 0 to 1" />
      ) : (
        `${formatCount(n_passed)} of ${formatCount(n_counted)}`
      )
    },
    meta: { priority: 2, width: '7rem', align: 'right' },
  },
  {
    id: 'mean',
    header: () => (
      <span title="Over attempts; failures and missing scores count as 0, canceled attempts are excluded">
        Mean score
      </span>
    ),
    cell: ({ row }) => {
      const { mean, n_counted } = row.original
      return mean === null ? <ScoreText score={mean} /> : <ScoreWithN score={threeDecimals(mean)} n={n_counted} />
    },
    meta: { priority: 3, width: '9rem', align: 'right' },
  },
  {
    id: 'marks',
    header: () => (
      <span title="A full square is a score of 1; E failed, T timed out, C canceled">Attempts, newest last</span>
    ),
    cell: ({ row }) => {
      const { attempts } = row.original
      return (
        <span className="flex items-center gap-1">
          <span className="sr-only">{attempts.slice(0, maxMarks).map(attemptLabel).reverse().join(', ')}</span>
          {attempts.length > maxMarks && (
            <span className="text-xs whitespace-nowrap text-muted">
              last {maxMarks} of {formatCount(attempts.length)}
            </span>
          )}
          <span aria-hidden className="flex items-center gap-1">
            {attempts
              .slice(0, maxMarks)
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
    header: () => 'Failed · timed out · canceled',
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
            title="Trend of the agent on the whole dataset"
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

const attemptLabel = ({ outcome, state, score }: ScenarioAttempt): string =>
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
    cell: ({ row }) => (
      <b className="font-semibold">
        <ScoreText score={row.original.score} />
      </b>
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
  timeOrUnknown('time_ms', 'Started'),
]

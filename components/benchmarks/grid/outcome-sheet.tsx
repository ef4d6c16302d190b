'use client'
import { useQuery } from '@tanstack/react-query'
import { ChevronDown, ChevronLeft, ChevronRight, ChevronUp } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import { Chips } from '#components/ui/choice/chips.tsx'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { isTyping } from '#components/ui/is-typing.ts'
import { SheetFrame } from '#components/ui/overlay/sheet-frame.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { ScrolledText } from '#components/ui/scrolled.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatDurationMs } from '#lib/browser/format.ts'
import type { ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import { rewardsOf } from '#lib/protocol/metrics.ts'
import { BenchmarkState } from '../benchmark-state.tsx'
import { Unknown } from '../figures.tsx'
import { OutcomeWarnings } from '../job/job-warnings.tsx'
import { formatScore } from '../job-figures.ts'
import { LogDownload } from '../logs/log-download.tsx'
import { downloadScenarioRunLogs, scenarioRunQueries } from '../run/queries.ts'
import { runLogsPath } from '../run/search-params.ts'
import { AgentName, TextFact } from '../score.tsx'
import { AttemptUsage } from '../usage-text.tsx'
import { AttemptMark } from './grid-cell.tsx'
import type { Direction, OutcomePlace } from './grid-view.ts'
import { OutcomeRecord } from './outcome-record.tsx'
import { countedNote } from './scenario-grid.ts'
import { TrajectorySection } from './trajectory-section.tsx'

interface OutcomeSheetProps {
  place: OutcomePlace
  moveTo: (direction: Direction) => (() => void) | undefined
  onAttempt: (attempt: number) => void
  onClose: () => void
}

const moves: { direction: Direction; key: string; icon: typeof ChevronUp; label: string; none: string }[] = [
  { direction: 'up', key: 'ArrowUp', icon: ChevronUp, label: 'Scenario above', none: 'This is the first' },
  { direction: 'down', key: 'ArrowDown', icon: ChevronDown, label: 'Scenario below', none: 'This is the last' },
  { direction: 'left', key: 'ArrowLeft', icon: ChevronLeft, label: 'Previous agent', none: 'This is the first' },
  { direction: 'right', key: 'ArrowRight', icon: ChevronRight, label: 'Next agent', none: 'This is the last' },
]

export const OutcomeSheet = ({ place, moveTo, onAttempt, onClose }: OutcomeSheetProps) => {
  const { row, agent, attempts, attempt } = place
  const outcome = attempts[attempt - 1]
  const listen = (event: KeyboardEvent) => {
    const move = moves.find(({ key }) => key === event.key)
    const isInRadio = event.target instanceof HTMLInputElement
    if (!move || isInRadio || isTyping(event.target as Element) || event.ctrlKey || event.metaKey || event.altKey)
      return
    event.preventDefault()
    moveTo(move.direction)?.()
  }
  return (
    <SheetFrame
      title={<VisibleText max={200}>{row.name}</VisibleText>}
      actions={
        <span className="flex">
          {moves.map(({ direction, icon, label, none }) => (
            <IconButton
              key={direction}
              size="sm"
              icon={icon}
              label={label}
              disabledReason={moveTo(direction) ? null : none}
              onClick={moveTo(direction)}
            />
          ))}
        </span>
      }
      onClose={onClose}
      onKeyDown={listen}
    >
      <p className="font-medium" role="status">
        <AgentName name={agent.name} model={agent.model} />
      </p>
      {attempts.length > 1 && (
        <Chips
          legend={`${formatCount(attempts.length)} attempts`}
          legendClassName="mb-1 text-sm text-muted"
          value={attempt}
          options={attempts.map((each, index) => ({
            value: index + 1,
            label: (
              <>
                <AttemptMark attempt={each} />
                <span className="tabular">
                  #{each.attempt ?? index + 1}{' '}
                  {each.state === 'COMPLETED' && each.score != null && formatScore(each.score)}
                </span>
              </>
            ),
          }))}
          onChange={onAttempt}
        />
      )}
      {outcome ? (
        <Outcome outcome={outcome} agent={agent} attempts={attempts} />
      ) : (
        <p className="text-muted">
          {agent.state === 'finished'
            ? "This agent's run ended without an outcome for this scenario."
            : 'No outcome yet. The run is still active.'}
        </p>
      )}
      <Instruction scenarioId={row.id} />
    </SheetFrame>
  )
}

interface OutcomeProps extends Pick<OutcomePlace, 'agent' | 'attempts'> {
  outcome: ScenarioOutcome
}

const Outcome = ({ outcome, agent: { runId, state }, attempts }: OutcomeProps) => {
  const id = outcome.scenario_run_id
  const run = useQuery({ ...scenarioRunQueries.get(id ?? ''), enabled: id != null })
  const rewards = rewardsOf(outcome).slice(0, maxRewards)
  const scoring = run.data?.scoring_contract_result?.scoring_function_results ?? []
  return (
    <>
      <Facts>
        <Fact label="State">
          <BenchmarkState of="outcome" state={outcome.state} />
          {outcome.environment_differs && (
            <span className="text-muted"> environment differs: the score may not match Harbor's</span>
          )}
        </Fact>
        <Fact label="Score">
          {outcome.score == null ? 'None' : <b className="tabular">{formatScore(outcome.score)}</b>}
          {outcome.score != null && attempts.length > 1 && (
            <span className="text-muted"> 1 of {formatCount(attempts.length)} attempts</span>
          )}
          <span className="text-muted">{countedNote(outcome)}</span>
        </Fact>
        {rewards.length > 1 && (
          <Fact label="Rewards">
            {rewards.map(([name, value]) => (
              <span key={name} className="tabular mr-4 inline-block">
                <VisibleText max={80}>{name}</VisibleText> {formatScore(value)}
              </span>
            ))}
          </Fact>
        )}
        <Fact label="Duration">
          {outcome.duration_ms == null ? <Unknown /> : formatDurationMs(outcome.duration_ms)}
        </Fact>
        {run.data && (
          <Fact label="Started">
            <RelativeTime ms={run.data.start_time_ms ?? null} />
          </Fact>
        )}
        {outcome.usage && (
          <Fact label="Tokens and cost">
            <AttemptUsage usage={outcome.usage} />
          </Fact>
        )}
        <TextFact label="Agent version" text={outcome.agent_version} />
        <Fact label="Scenario run">
          {id == null ? (
            <span className="text-muted">None: setup failed before it started</span>
          ) : (
            <CopyableId value={id} full label="scenario run id" />
          )}
        </Fact>
        <Fact label="Links">
          <span className="flex flex-wrap gap-x-4 gap-y-1">
            {runId && (
              <TextLink prefetch={false} href={paths.benchmarkRun(runId)}>
                Agent run
              </TextLink>
            )}
            {runId && id != null && (
              // Log file names start with their scenario run id.
              <TextLink prefetch={false} href={runLogsPath(runId)({ files: id })}>
                Log files
              </TextLink>
            )}
            {run.data?.devbox_id && (
              <TextLink prefetch={false} href={paths.devbox(run.data.devbox_id, 'log')}>
                Devbox log
              </TextLink>
            )}
          </span>
          {run.error && (
            <span className="text-muted">Could not load the scenario run: {problemOf(run.error).message}</span>
          )}
        </Fact>
      </Facts>
      <OutcomeWarnings warnings={outcome.warnings} />
      {outcome.failure_reason && (
        <section aria-label="Failure" className="space-y-1">
          <h3 className="font-medium">
            <code className="font-mono">
              <VisibleText max={200}>{outcome.failure_reason.exception_type}</VisibleText>
            </code>
          </h3>
          <ScrolledText>{outcome.failure_reason.exception_message}</ScrolledText>
        </section>
      )}
      {scoring.length > 0 && (
        <section aria-label="Scoring" className="space-y-2">
          <h3 className="font-medium">Scoring</h3>
          {scoring.map((result) => (
            <div key={result.scoring_function_name} className="space-y-1">
              <p>
                <VisibleText max={120}>{result.scoring_function_name}</VisibleText>{' '}
                <span className="tabular text-muted">
                  {result.state === 'complete' ? formatScore(result.score) : result.state}
                </span>
              </p>
              {result.output.trim() !== '' && <ScrolledText>{result.output}</ScrolledText>}
            </div>
          ))}
        </section>
      )}
      {runId && id != null && (
        <OutcomeRecord key={id} runId={runId} scenarioRunId={id} isActive={state !== 'finished'} />
      )}
      {id != null &&
        outcome.trajectories?.map((path) => <TrajectorySection key={`${id} ${path}`} runId={id} path={path} />)}
      {id != null && (
        <div className="flex flex-wrap items-center gap-2">
          <LogDownload key={id} id={id} name={outcome.scenario_name} request={downloadScenarioRunLogs} />
        </div>
      )}
    </>
  )
}

const maxRewards = 30

const Instruction = ({ scenarioId }: { scenarioId: string }) => {
  const scenario = useQuery({ ...scenarioRunQueries.scenario(scenarioId), retry: false })
  return (
    <section aria-label="Instruction" className="space-y-1">
      <h3 className="font-medium">Instruction</h3>
      {scenario.data ? (
        <ScrolledText prose className="max-h-96">
          {scenario.data.input_context.problem_statement || 'No instruction.'}
        </ScrolledText>
      ) : (
        <p className="text-muted">
          {scenario.error ? `Could not load the scenario: ${problemOf(scenario.error).message}` : 'Loading scenario…'}
        </p>
      )}
      <p className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <CopyableId value={scenarioId} full label="scenario id" className="text-muted" />
        <TextLink prefetch={false} href={paths.scenario(scenarioId)}>
          Scenario details
        </TextLink>
      </p>
    </section>
  )
}

'use client'
import { useQuery } from '@tanstack/react-query'
import { ChevronDown, ChevronLeft, ChevronRight, ChevronUp, Columns2, Download, ListTree } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { Chips } from '#components/ui/choice/chips.tsx'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
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
import { formatCount, formatCountOf, formatDurationMs } from '#lib/browser/format.ts'
import type { ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'
import { rewardsOf } from '#lib/protocol/metrics.ts'
import { agentLabel } from '#lib/protocol/report-words.ts'
import type { ReportChoice } from '#lib/protocol/reports.ts'
import { BenchmarkState } from '../benchmark-state.tsx'
import { Unknown } from '../figures.tsx'
import { OutcomeWarnings } from '../job/job-warnings.tsx'
import { type AgentRow, formatScore } from '../job-figures.ts'
import { LogDownload } from '../logs/log-download.tsx'
import type { Trajectory, TrajectoryStep } from '../logs/trajectory.ts'
import { type AttemptMarks, labelsInUse } from '../marks/attempt-marks.ts'
import { MarkActions, MarkFacts } from '../marks/mark-actions.tsx'
import { downloadScenarioRunLogs, scenarioRunQueries, trajectoryAddress } from '../run/queries.ts'
import { runLogsPath } from '../run/search-params.ts'
import { AgentName, TextFact } from '../score.tsx'
import { sideBySidePath, sideText } from '../side-by-side/search-params.ts'
import { AttemptUsage, formatUsd } from '../usage-text.tsx'
import { AttemptMark } from './grid-cell.tsx'
import type { Direction, OutcomePlace } from './grid-view.ts'
import { OutcomeRecord } from './outcome-record.tsx'
import { countedNote } from './scenario-grid.ts'

interface OutcomeSheetProps {
  place: OutcomePlace
  jobId: string
  agents: readonly AgentRow[]
  choice: ReportChoice
  marks: AttemptMarks
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

export const OutcomeSheet = (props: OutcomeSheetProps) => {
  const { place, jobId, agents, choice, marks, moveTo, onAttempt, onClose } = props
  const { row, agent, attempts, attempt } = place
  const outcome = attempts[attempt - 1]
  const mark = outcome && marks.get(outcome)
  const listen = (event: KeyboardEvent) => {
    const move = moves.find(({ key }) => key === event.key)
    const isInRadio = event.target instanceof HTMLInputElement
    // React passes on the keys of dialogs opened from the sheet.
    const isInSheet = event.currentTarget.contains(event.target as Element)
    if (
      !move ||
      isInRadio ||
      !isInSheet ||
      isTyping(event.target as Element) ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey
    )
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
                <AttemptMark attempt={each} isExcluded={marks.get(each)?.isExcluded} />
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
      {outcome && (
        <div className="flex flex-wrap items-center gap-2">
          <CompareWith place={place} jobId={jobId} agents={agents} choice={choice} />
          {mark && (
            <MarkActions
              jobId={jobId}
              mark={mark}
              name={row.name}
              agent={agentLabel(agent)}
              used={labelsInUse(marks)}
            />
          )}
        </div>
      )}
      {mark && <MarkFacts mark={mark} />}
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

const CompareWith = ({
  place,
  jobId,
  agents,
  choice,
}: Pick<OutcomeSheetProps, 'place' | 'jobId' | 'agents' | 'choice'>) => {
  const { row, agent, attempts, attempt } = place
  const hrefTo = (run: string, other?: number) =>
    sideBySidePath({
      ...choice,
      scenario: row.id,
      a: sideText({ job: jobId, run: agent.key, attempt }),
      b: sideText({ job: jobId, run, attempt: other }),
    })
  const items = [
    ...agents.flatMap((each, at) =>
      each.key !== agent.key && (row.cells[at]?.attempts.length ?? 0) > 0
        ? [{ label: agentLabel(each), href: hrefTo(each.key, 1) }]
        : [],
    ),
    ...attempts.flatMap((_, at) =>
      at + 1 === attempt ? [] : [{ label: `Attempt ${at + 1} of this agent`, href: hrefTo(agent.key, at + 1) }],
    ),
  ]
  if (items.length === 0) return null
  return (
    <DropdownMenu
      label="Compare with"
      align="start"
      items={items}
      trigger={
        <Button size="sm" icon={Columns2}>
          Compare with…
        </Button>
      }
    />
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
        {outcome.engine && <Fact label="Engine">{engineLabels[outcome.engine] ?? outcome.engine}</Fact>}
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
            <CopyableId value={id} full label="scenario run ID" />
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
            <span className="text-muted">Couldn't load the scenario run: {problemOf(run.error).message}</span>
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

const engineLabels: Record<string, string> = {
  container: "Container of the task's image",
  bubblewrap: 'Sandbox on top of the host system',
  none: 'No isolation',
}

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
          {scenario.error ? `Couldn't load the scenario: ${problemOf(scenario.error).message}` : 'Loading scenario…'}
        </p>
      )}
      <p className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <CopyableId value={scenarioId} full label="scenario ID" className="text-muted" />
        <TextLink prefetch={false} href={paths.scenario(scenarioId)}>
          Scenario details
        </TextLink>
      </p>
    </section>
  )
}

const stepsAtOnce = 100
const maxShownLength = 20_000

/** Loaded on demand, as a trajectory may be megabytes. */
const TrajectorySection = ({ runId, path }: { runId: string; path: string }) => {
  const [isShown, setIsShown] = useState(false)
  const { data, error, isPending } = useQuery({ ...scenarioRunQueries.trajectory(runId, path), enabled: isShown })
  const label = path === 'agent/trajectory.json' ? 'Trajectory' : `Trajectory of ${path.split('/')[1] ?? path}`
  return (
    <section aria-label={label} className="space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="font-medium">
          <VisibleText max={120}>{label}</VisibleText>
        </h3>
        {data && <Summary trajectory={data} />}
        <span className="ml-auto flex items-center gap-1">
          <ButtonLink size="sm" icon={Download} href={trajectoryAddress(runId, path)} prefetch={false} download>
            Download file
          </ButtonLink>
          <Button
            size="sm"
            icon={ListTree}
            aria-expanded={isShown}
            busy={isShown && isPending}
            onClick={() => setIsShown(!isShown)}
          >
            {isShown ? 'Hide steps' : 'Show steps'}
          </Button>
        </span>
      </div>
      {isShown && error && (
        <p role="alert" className="text-muted">
          Couldn't open the trajectory: {problemOf(error).message}
        </p>
      )}
      {isShown && data === null && <p className="text-muted">Not an ATIF trajectory: the file has no list of steps.</p>}
      {isShown && data && <Steps steps={data.steps} />}
    </section>
  )
}

const Summary = ({ trajectory: { steps, agent, schema_version } }: { trajectory: Trajectory }) => {
  const by = [agent.name, agent.version].filter(Boolean).join(' ')
  return (
    <p className="text-sm text-muted">
      {formatCountOf(steps.length, 'step')}
      {by && ' by '}
      {by && <VisibleText max={80}>{by}</VisibleText>}
      {schema_version && ', '}
      {schema_version && <VisibleText max={40}>{schema_version}</VisibleText>}
    </p>
  )
}

const Steps = ({ steps }: { steps: readonly TrajectoryStep[] }) => {
  const [count, setCount] = useState(stepsAtOnce)
  if (steps.length === 0) return <p className="text-muted">No steps.</p>
  const shown = steps.slice(0, count)
  return (
    <div className="space-y-2">
      <ol className="divide-y divide-line rounded-md border border-line">
        {shown.map((step, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step is its number
          <Step key={at} step={step} number={at + 1} />
        ))}
      </ol>
      {shown.length < steps.length && (
        <div className="flex flex-wrap items-center gap-2 text-sm text-muted">
          <span className="tabular">
            {formatCount(shown.length)} of {formatCount(steps.length)} steps
          </span>
          <Button size="sm" onClick={() => setCount(count + stepsAtOnce)}>
            Show {formatCount(Math.min(stepsAtOnce, steps.length - shown.length))} more
          </Button>
        </div>
      )}
    </div>
  )
}

const Step = ({ step, number }: { step: TrajectoryStep; number: number }) => {
  const [isOpen, setIsOpen] = useState(false)
  const { source, message, calls } = step
  return (
    <li>
      <details open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
        <summary className="cursor-pointer px-3 py-1.5">
          <span className="tabular text-muted">{number}</span>{' '}
          <span className="font-medium">
            <VisibleText max={40}>{source}</VisibleText>
          </span>{' '}
          {calls.length > 0 && (
            <span className="font-mono text-sm text-muted">
              <VisibleText max={80}>{toolSummary(calls)}</VisibleText>
            </span>
          )}{' '}
          <span className="break-words">
            <VisibleText max={120}>{message.trim().split('\n')[0] ?? ''}</VisibleText>
          </span>
        </summary>
        {isOpen && <StepBody step={step} />}
      </details>
    </li>
  )
}

export const StepBody = ({ step }: { step: TrajectoryStep }) => {
  const { message, reasoning_content, calls, observations, model_name, timestamp, metrics } = step
  const { prompt_tokens, completion_tokens, cost_usd } = metrics
  const usage = [
    ...(prompt_tokens === null ? [] : [`${formatCount(prompt_tokens)} tokens in`]),
    ...(completion_tokens === null ? [] : [`${formatCount(completion_tokens)} out`]),
    ...(cost_usd === null ? [] : [formatUsd(cost_usd)]),
  ]
  const texts = [
    { title: 'Message', texts: message ? [message] : [] },
    { title: 'Reasoning', texts: reasoning_content ? [reasoning_content] : [] },
    ...calls.flatMap(({ name, input, results }) => [
      { title: `Call: ${name}`, texts: [input || 'No arguments'] },
      { title: 'Result', texts: results },
    ]),
    { title: 'Observation', texts: observations },
  ].flatMap(({ title, texts }) => texts.map((text) => ({ title, text })))
  return (
    <div className="space-y-2 px-3 pb-3">
      {(model_name !== null || timestamp !== null || usage.length > 0) && (
        <p className="tabular text-sm text-muted">
          {timestamp !== null && <RelativeTime ms={timestamp} />}{' '}
          {model_name !== null && <VisibleText max={80}>{model_name}</VisibleText>} {usage.join(', ')}
        </p>
      )}
      {texts.length === 0 && <p className="text-muted">This step is empty.</p>}
      {texts.map(({ title, text }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the texts of a step never reorder
        <div key={at} className="space-y-1">
          <p className="text-sm text-muted">
            <VisibleText max={120}>{title}</VisibleText>
          </p>
          <ScrolledText max={maxShownLength}>{text}</ScrolledText>
        </div>
      ))}
    </div>
  )
}

const toolSummary = (calls: TrajectoryStep['calls']): string =>
  [...Map.groupBy(calls, ({ name }) => name)]
    .map(([name, { length }]) => (length > 1 ? `${name} ×${length}` : name))
    .join(', ')

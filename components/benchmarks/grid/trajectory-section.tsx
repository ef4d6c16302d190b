import { useQuery } from '@tanstack/react-query'
import { Download, ListTree } from 'lucide-react'
import { useState } from 'react'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { ScrolledText } from '#components/ui/scrolled.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import type { Trajectory, TrajectoryCall, TrajectoryStep } from '../logs/trajectory.ts'
import { scenarioRunQueries, trajectoryAddress } from '../run/scenario-run-queries.ts'
import { formatUsd } from '../usage-text.tsx'

const stepsAtOnce = 100
const maxShownLength = 20_000

/** Loaded on demand, as a trajectory may be megabytes. */
export const TrajectorySection = ({ runId, path }: { runId: string; path: string }) => {
  const [isShown, setIsShown] = useState(false)
  const query = useQuery({ ...scenarioRunQueries.trajectory(runId, path), enabled: isShown })
  const label = path === 'agent/trajectory.json' ? 'Trajectory' : `Trajectory of ${path.split('/')[1] ?? path}`
  return (
    <section aria-label={label} className="space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="font-medium">
          <VisibleText max={120}>{label}</VisibleText>
        </h3>
        {query.data && <Summary trajectory={query.data} />}
        <span className="ml-auto flex items-center gap-1">
          <ButtonLink size="sm" icon={Download} href={trajectoryAddress(runId, path)} prefetch={false} download>
            Download file
          </ButtonLink>
          <Button
            size="sm"
            icon={ListTree}
            aria-expanded={isShown}
            busy={isShown && query.isPending}
            onClick={() => setIsShown(!isShown)}
          >
            {isShown ? 'Hide steps' : 'Show steps'}
          </Button>
        </span>
      </div>
      {isShown && query.error && (
        <p role="alert" className="text-muted">
          Could not open the trajectory: {problemOf(query.error).message}
        </p>
      )}
      {isShown && query.data === null && (
        <p className="text-muted">Not an ATIF trajectory: the file has no list of steps.</p>
      )}
      {isShown && query.data && <Steps steps={query.data.steps} />}
    </section>
  )
}

const Summary = ({ trajectory: { steps, agent, version } }: { trajectory: Trajectory }) => (
  <p className="text-sm text-muted">
    {formatCountOf(steps.length, 'step')}
    {agent !== null && (
      <>
        {' '}
        by <VisibleText max={80}>{agent}</VisibleText>
      </>
    )}
    {version !== null && (
      <>
        , <VisibleText max={40}>{version}</VisibleText>
      </>
    )}
  </p>
)

const Steps = ({ steps }: { steps: readonly TrajectoryStep[] }) => {
  const [count, setCount] = useState(stepsAtOnce)
  if (steps.length === 0) return <p className="text-muted">No steps.</p>
  const shown = steps.slice(0, count)
  return (
    <div className="space-y-2">
      <ol className="divide-y divide-line rounded-md border border-line">
        {shown.map((step) => (
          <Step key={step.number} step={step} />
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

const Step = ({ step }: { step: TrajectoryStep }) => {
  const [isOpen, setIsOpen] = useState(false)
  const { number, source, message, calls } = step
  const line = message.trim().split('\n')[0] ?? ''
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
            <VisibleText max={120}>{line}</VisibleText>
          </span>
        </summary>
        {isOpen && <StepBody step={step} />}
      </details>
    </li>
  )
}

const StepBody = ({ step }: { step: TrajectoryStep }) => {
  const { message, reasoning, calls, observations } = step
  const isEmpty = message === '' && reasoning === '' && calls.length === 0 && observations.length === 0
  return (
    <div className="space-y-2 px-3 pb-3">
      <StepFacts step={step} />
      {isEmpty && <p className="text-muted">This step is empty.</p>}
      {message !== '' && <Text title="Message" text={message} />}
      {reasoning !== '' && <Text title="Reasoning" text={reasoning} />}
      {calls.map((call, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: calls never reorder
        <Call key={index} call={call} />
      ))}
      {observations.map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: observations never reorder
        <Text key={index} title="Observation" text={text} />
      ))}
    </div>
  )
}

const StepFacts = ({ step: { model, timestampMs, tokens } }: { step: TrajectoryStep }) => {
  const parts = [
    ...(tokens.input === null ? [] : [`${formatCount(tokens.input)} tokens in`]),
    ...(tokens.output === null ? [] : [`${formatCount(tokens.output)} out`]),
    ...(tokens.costUsd === null ? [] : [formatUsd(tokens.costUsd)]),
  ]
  if (model === null && timestampMs === null && parts.length === 0) return null
  return (
    <p className="tabular text-sm text-muted">
      {timestampMs !== null && <RelativeTime ms={timestampMs} />}{' '}
      {model !== null && <VisibleText max={80}>{model}</VisibleText>} {parts.join(', ')}
    </p>
  )
}

const Call = ({ call: { name, input, results } }: { call: TrajectoryCall }) => (
  <>
    <Text title={`Call: ${name}`} text={input || 'No arguments'} />
    {results.map((text, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: results never reorder
      <Text key={index} title="Result" text={text} />
    ))}
  </>
)

const Text = ({ title, text }: { title: string; text: string }) => (
  <div className="space-y-1">
    <p className="text-sm text-muted">
      <VisibleText max={120}>{title}</VisibleText>
    </p>
    <ScrolledText max={maxShownLength}>{text}</ScrolledText>
  </div>
)

/** `bash ×2, edit`. */
const toolSummary = (calls: readonly TrajectoryCall[]): string => {
  const counts = new Map<string, number>()
  for (const { name } of calls) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => (count > 1 ? `${name} ×${count}` : name)).join(', ')
}

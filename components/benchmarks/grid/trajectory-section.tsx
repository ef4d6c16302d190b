import { useQuery } from '@tanstack/react-query'
import { Download, ListTree } from 'lucide-react'
import { useState } from 'react'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { ScrolledText } from '#components/ui/scrolled.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import type { Trajectory, TrajectoryStep } from '../logs/trajectory.ts'
import { scenarioRunQueries, trajectoryAddress } from '../run/queries.ts'
import { formatUsd } from '../usage-text.tsx'

const stepsAtOnce = 100
const maxShownLength = 20_000

/** Loaded on demand, as a trajectory may be megabytes. */
export const TrajectorySection = ({ runId, path }: { runId: string; path: string }) => {
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
          Could not open the trajectory: {problemOf(error).message}
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

const StepBody = ({ step }: { step: TrajectoryStep }) => {
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

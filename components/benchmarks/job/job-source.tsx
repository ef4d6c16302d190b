'use client'
import { useMutation } from '@tanstack/react-query'
import { Eye, EyeOff } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { VisibleLines, VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import type { AgentConfig, BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { mask } from '#lib/protocol/mask.ts'
import { agentLabel, repeatSuffixes } from '#lib/protocol/report-words.ts'
import { AgentName } from '../score.tsx'
import { benchmarkJobMutations } from './queries.ts'

export const JobSource = ({ job: { id, job_source, job_spec } }: { job: BenchmarkJob }) => {
  const yaml = job_source?.inline_yaml
  if (!job_source && !job_spec) return null
  const suffixes = repeatSuffixes(
    (job_spec?.agent_configs ?? []).map(({ name, model_name: model }) => agentLabel({ name, model })),
  )
  return (
    <section aria-label="Source and configuration" className="space-y-4">
      <h2 className="text-lg font-medium">Source and configuration</h2>
      <Facts>
        <Fact label="Source">{job_source ? sourceText(job_source) : 'Not reported'}</Fact>
        {job_spec && <Fact label="Scenarios">{formatCount(job_spec.scenario_ids.length)}</Fact>}
        {Object.entries(job_spec?.orchestrator_config ?? {}).map(
          ([name, value]) =>
            value != null && (
              <Fact key={name} label={<code className="font-mono text-sm">{name}</code>}>
                {String(value)}
              </Fact>
            ),
        )}
      </Facts>
      {job_spec?.agent_configs.map((agent, index) => (
        <Agent
          // biome-ignore lint/suspicious/noArrayIndexKey: the agents of a job never change
          key={index}
          agent={agent}
          suffix={suffixes[index] ?? ''}
          jobId={id}
          at={['job_spec', 'agent_configs', index]}
        />
      ))}
      {yaml != null && <JobFile yaml={yaml} jobId={id} />}
    </section>
  )
}

/** Estimated for the narrowest screen. */
const mayScroll = (text: string): boolean => text.length > 300 || text.split('\n').length > 8

type Pointer = readonly (string | number)[]

const useRevealed = (value: string, name: string, job_id: string, pointer: Pointer): [shown: string, ReactNode] => {
  const { isSuccess: isShown, data, error, isPending, reset, mutate } = useMutation(benchmarkJobMutations.reveal())
  if (!value.includes(mask)) return [value, null]
  const toggle = (
    <>
      <Button
        size="sm"
        variant="ghost"
        icon={isShown ? EyeOff : Eye}
        aria-label={`${isShown ? 'Hide' : 'Reveal'} ${name}`}
        needs="/api/reveal"
        busy={isPending}
        onClick={() => (isShown ? reset() : mutate({ job_id, pointer: [...pointer] }))}
      >
        {isShown ? 'Hide' : 'Reveal'}
      </Button>
      {error && (
        <span role="alert" className="text-danger">
          {error.message}
        </span>
      )}
    </>
  )
  return [isShown ? (typeof data === 'string' ? data : JSON.stringify(data)) : value, toggle]
}

const JobFile = ({ yaml, jobId }: { yaml: string; jobId: string }) => {
  const [shown, toggle] = useRevealed(yaml, 'the job file', jobId, ['job_source', 'inline_yaml'])
  return (
    <figure className="space-y-1">
      <figcaption className="flex flex-wrap items-center justify-between gap-2 font-medium">
        Job file{toggle}
      </figcaption>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scroll regions must be focusable
        tabIndex={0}
        className="max-h-96 overflow-auto rounded-md border border-line bg-surface-1 px-3 py-2 font-mono text-sm"
      >
        <VisibleLines max={200_000}>{shown}</VisibleLines>
      </pre>
    </figure>
  )
}

const Value = ({ value, name, jobId, at }: { value: string; name: string; jobId: string; at: Pointer }) => {
  const [shown, toggle] = useRevealed(value, name, jobId, at)
  return (
    <div className="max-h-80 overflow-y-auto" tabIndex={mayScroll(shown) ? 0 : undefined}>
      <VisibleLines max={20_000}>{shown}</VisibleLines> {toggle}
    </div>
  )
}

const sourceText = ({
  type,
  benchmark_name,
  benchmark_id,
  import_id,
}: NonNullable<BenchmarkJob['job_source']>): ReactNode => {
  if (type === 'harbor') return 'Harbor job file'
  if (type === 'scenarios') return 'List of scenarios'
  if (type === 'imported')
    return (
      <>
        Import
        {import_id && (
          <>
            {' of '}
            <VisibleText mono max={120}>
              {import_id}
            </VisibleText>
          </>
        )}
      </>
    )
  if (type === 'benchmark')
    return (
      <>
        Benchmark <VisibleText max={120}>{benchmark_name ?? benchmark_id ?? ''}</VisibleText>
      </>
    )
  return <VisibleText max={60}>{type}</VisibleText>
}

const Agent = ({ agent, suffix, jobId, at }: { agent: AgentConfig; suffix: string; jobId: string; at: Pointer }) => {
  const pairs: { name: string; value: string; at: Pointer }[] = [
    ...Object.entries(agent.kwargs ?? {}).map(([name, value]) => ({
      name: `kwargs.${name}`,
      value: typeof value === 'string' ? value : JSON.stringify(value),
      at: [...at, 'kwargs', name],
    })),
    ...Object.entries(agent.agent_environment?.environment_variables ?? {}).map(([name, value]) => ({
      name,
      value,
      at: [...at, 'agent_environment', 'environment_variables', name],
    })),
  ]
  const secrets = Object.entries(agent.agent_environment?.secrets ?? {})
  return (
    <div className="space-y-1">
      <h3 className="font-medium">
        <AgentName name={`${agent.name}${suffix}`} model={agent.model_name} />
      </h3>
      <Facts mono>
        {agent.timeout_seconds != null && <Fact label="timeout_seconds">{agent.timeout_seconds}</Fact>}
        {pairs.map(({ name, value, at }) => (
          <Fact
            key={name}
            label={<VisibleText max={120}>{name}</VisibleText>}
            className="whitespace-pre-wrap break-all"
          >
            <Value value={value} name={name} jobId={jobId} at={at} />
          </Fact>
        ))}
        {secrets.map(([name, secret]) => (
          <Fact key={name} label={<VisibleText max={120}>{name}</VisibleText>}>
            <span className="font-sans">secret </span>
            <VisibleText max={120}>{secret}</VisibleText>
          </Fact>
        ))}
      </Facts>
    </div>
  )
}

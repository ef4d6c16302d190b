'use client'
import { Eye, EyeOff } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { VisibleLines, VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/console/frame/format.ts'
import type { AgentConfig, BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { looksSecret, mask, maskYaml } from './job-figures.ts'
import { AgentName } from './score.tsx'

/** What the job was made from and what that came to; what looks like a secret is hidden until asked for. */
export const JobSource = ({ job: { job_source, job_spec } }: { job: BenchmarkJob }) => {
  const [isShown, setIsShown] = useState(false)
  const yaml = job_source?.inline_yaml
  if (!job_source && !job_spec) return null
  return (
    <section aria-label="Source and configuration" className="space-y-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-lg font-medium">Source and configuration</h2>
        <Button
          size="sm"
          variant="ghost"
          icon={isShown ? EyeOff : Eye}
          aria-pressed={isShown}
          onClick={() => setIsShown(!isShown)}
        >
          {isShown ? 'Hide values that look secret' : 'Show values that look secret'}
        </Button>
      </div>
      <Facts>
        <Fact label="Made from">{job_source ? sourceWords(job_source) : 'not told'}</Fact>
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
        // biome-ignore lint/suspicious/noArrayIndexKey: the agents of a job never change
        <Agent key={index} agent={agent} isShown={isShown} />
      ))}
      {yaml != null && (
        <figure className="space-y-1">
          <figcaption className="font-medium">Job file</figcaption>
          <pre
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
            tabIndex={0}
            className="max-h-96 overflow-auto rounded-md border border-line bg-surface-1 px-3 py-2 font-mono text-sm"
          >
            <VisibleLines max={200_000}>{isShown ? yaml : maskYaml(yaml)}</VisibleLines>
          </pre>
        </figure>
      )}
    </section>
  )
}

const sourceWords = ({ type, benchmark_name, benchmark_id }: NonNullable<BenchmarkJob['job_source']>): ReactNode => {
  if (type === 'harbor') return 'a Harbor job file'
  if (type === 'scenarios') return 'a list of scenarios'
  if (type === 'benchmark')
    return (
      <>
        benchmark <VisibleText max={120}>{benchmark_name ?? benchmark_id ?? ''}</VisibleText>
      </>
    )
  return <VisibleText max={60}>{type}</VisibleText>
}

const Agent = ({ agent, isShown }: { agent: AgentConfig; isShown: boolean }) => {
  const pairs: [string, string][] = [
    ...Object.entries(agent.kwargs ?? {}).map(([name, value]): [string, string] => [
      `kwargs.${name}`,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
    ...Object.entries(agent.agent_environment?.environment_variables ?? {}),
  ]
  const secrets = Object.entries(agent.agent_environment?.secrets ?? {})
  return (
    <div className="space-y-1">
      <h3 className="font-medium">
        <AgentName name={agent.name} model={agent.model_name} />
      </h3>
      <Facts mono>
        {agent.timeout_seconds != null && <Fact label="timeout_seconds">{agent.timeout_seconds}</Fact>}
        {pairs.map(([name, value]) => (
          <Fact
            key={name}
            label={<VisibleText max={120}>{name}</VisibleText>}
            className="max-h-80 overflow-y-auto whitespace-pre-wrap break-all"
          >
            {!isShown && looksSecret(name, value) ? mask : <VisibleLines max={20_000}>{value}</VisibleLines>}
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

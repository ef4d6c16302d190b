'use client'
import { useQuery } from '@tanstack/react-query'
import { scenarioRunQueries } from '#components/benchmarks/run/scenario-run-queries.ts'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { Fact } from '#components/ui/facts.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { type Devbox, isOfTrial } from '#lib/contract/devboxes.ts'

/** Who made the devbox; of a trial with the way to its run. */
export const Origin = ({ devbox }: { devbox: Devbox }) => {
  const { initiator_type, initiator_id } = devbox
  const trialId = isOfTrial(devbox) ? (initiator_id ?? '') : ''
  const { data: trial } = useQuery({ ...scenarioRunQueries.get(trialId), enabled: trialId !== '', retry: false })
  if (!initiator_type && !initiator_id) return null
  return (
    <>
      <Fact label="Made by">
        {originWords[initiator_type ?? ''] ?? <VisibleText max={60}>{initiator_type ?? 'unknown'}</VisibleText>}{' '}
        {initiator_id && <CopyableId value={initiator_id} label="id of what made it" />}
      </Fact>
      {trial?.benchmark_run_id && (
        <Fact label="Benchmark run">
          <TextLink href={paths.benchmarkRun(trial.benchmark_run_id)}>
            {trial.name ? <VisibleText max={120}>{trial.name}</VisibleText> : trial.benchmark_run_id}
          </TextLink>
        </Fact>
      )}
      {trial && (
        <Fact label="Scenario">
          <TextLink href={paths.scenario(trial.scenario_id)} className="font-mono text-sm">
            {trial.scenario_id}
          </TextLink>
        </Fact>
      )}
    </>
  )
}

const originWords: Record<string, string> = {
  api: 'A call of the API or this console',
  scenario: 'A trial of a benchmark',
  scoring_validation: 'A check of how a scenario is scored',
}

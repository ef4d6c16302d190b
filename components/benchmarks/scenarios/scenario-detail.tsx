'use client'
import { useQuery } from '@tanstack/react-query'
import { DetailPage } from '#components/layout/detail-page.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { ScrolledText } from '#components/ui/scrolled.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatDurationMs } from '#lib/browser/format.ts'
import type { Scenario } from '#lib/contract/scenarios.ts'
import { BenchmarkState } from '../benchmark-state.tsx'
import { scenarioRunQueries } from '../run/queries.ts'
import { TextFact } from '../score.tsx'
import { ScenarioHistory } from './scenario-history.tsx'
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

'use client'
import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import type { BenchmarkJob, BenchmarkJobSpec } from '#lib/contract/benchmark-jobs.ts'
import { agentLabel } from '#lib/protocol/report-words.ts'
import { YamlField } from '../create/yaml-field.tsx'
import { progressOf, shortLabels, yamlProblems } from '../job-figures.ts'
import { benchmarkJobMutations } from './queries.ts'
import { cloneOf, neverStartedText, rerunOf, type Unscored } from './run-again.ts'

interface RunAgainDialogProps {
  job: BenchmarkJob
  of: 'all' | Unscored
  onClose: () => void
}

export const RunAgainDialog = ({ job, of, onClose }: RunAgainDialogProps) => {
  const router = useRouter()
  const [again] = useState(() => (of === 'all' ? cloneOf(job) : rerunOf(job, of)))
  const [name, setName] = useState(`${job.name} ${of === 'all' ? 'again' : 'rerun'}`.slice(0, 256))
  const spec = 'spec' in again ? again.spec : null
  const [yaml, setYaml] = useState(spec?.type === 'harbor' ? spec.inline_yaml : null)
  const create = useMutation(benchmarkJobMutations.create())
  const problem = create.error ? problemOf(create.error) : null
  const isYamlProblem = yaml !== null && (problem?.field?.startsWith('spec') ?? false)
  const submit = () => {
    if (!spec) return
    create.mutate(
      {
        ...(name.trim() && { name: name.trim() }),
        spec: yaml === null ? spec : { type: 'harbor', inline_yaml: yaml },
        // The page only has masked secrets.
        valuesOf: job.id,
      },
      {
        onSuccess: ({ id }) => {
          onClose()
          router.push(paths.benchmarkJob(id))
        },
      },
    )
  }
  return (
    <FormDialog
      open
      losesInput
      onOpenChange={(isOpen) => isOpen || onClose()}
      title={of === 'all' ? 'Clone job' : 'Rerun failed'}
      description={of === 'all' ? 'Creates a new job from the same source.' : rerunDescription(of, job)}
      size={yaml === null ? 'md' : 'lg'}
      busy={create.isPending}
      onSubmit={submit}
      submitLabel="Create job"
      refusal={'refusal' in again ? again.refusal : null}
      error={isYamlProblem || problem?.field === 'name' ? null : create.error}
    >
      {'refusal' in again && <p role="alert">{again.refusal}.</p>}
      {spec && (
        <TextField
          label="Name"
          optional
          error={problem?.field === 'name' ? problem.message : null}
          value={name}
          onText={setName}
        />
      )}
      {yaml !== null ? (
        <YamlField
          label="Job file"
          value={yaml}
          problems={isYamlProblem && problem ? yamlProblems(problem.message) : []}
          onChange={(text) => {
            setYaml(text)
            if (create.isError) create.reset()
          }}
        />
      ) : (
        spec && <SpecSummary spec={spec} />
      )}
    </FormDialog>
  )
}

const rerunDescription = ({ scenarios, agents, attempts }: Unscored, job: BenchmarkJob): string =>
  `${formatCountOf(attempts, 'attempt')} failed, timed out or were canceled, in ${formatCountOf(scenarios.length, 'scenario')}, for ${shortLabels(agents).join(', ')}. The new job runs only these scenarios.${neverStartedText(progressOf(job))}`

const SpecSummary = ({ spec }: { spec: BenchmarkJobSpec }) => {
  if (spec.type === 'harbor') return null
  const scenarios = spec.type === 'scenarios' ? spec.scenario_ids.length : null
  const agents = spec.agent_configs
  return (
    <p>
      {scenarios === null ? 'The scenarios of the benchmark' : formatCountOf(scenarios, 'scenario')} with{' '}
      {formatCountOf(agents.length, 'agent')}:{' '}
      <VisibleText max={400}>
        {agents.map(({ name, model_name }) => agentLabel({ name, model: model_name })).join(', ')}
      </VisibleText>
      {scenarios !== null && `; ${formatCount(scenarios * agents.length)} trials.`}
    </p>
  )
}

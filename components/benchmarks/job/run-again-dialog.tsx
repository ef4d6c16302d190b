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
import { narrowedToTasks } from './harbor-file.ts'
import { benchmarkJobMutations } from './queries.ts'
import { cloneOf, neverBegunWords, rerunOf, type Unscored } from './run-again.ts'

interface RunAgainDialogProps {
  job: BenchmarkJob
  /** The whole job, or what has no score of it. */
  of: 'all' | Unscored
  onClose: () => void
}

/** Makes a new job of the same kind; the file of a Harbor job can be changed before. */
export const RunAgainDialog = ({ job, of, onClose }: RunAgainDialogProps) => {
  const router = useRouter()
  const [again] = useState(() => (of === 'all' ? cloneOf(job) : rerunOf(job, of, narrowedToTasks)))
  const [name, setName] = useState(`${job.name} ${of === 'all' ? 'again' : 'rerun'}`.slice(0, 256))
  const spec = 'spec' in again ? again.spec : null
  const [yaml, setYaml] = useState(spec?.type === 'harbor' ? spec.inline_yaml : null)
  const create = useMutation(benchmarkJobMutations.create())
  const problem = create.error ? problemOf(create.error) : null
  const isOfYaml = yaml !== null && (problem?.field?.startsWith('spec') ?? false)
  const submit = () => {
    if (!spec) return
    create.mutate(
      {
        ...(name.trim() && { name: name.trim() }),
        spec: yaml === null ? spec : { type: 'harbor', inline_yaml: yaml },
        // What the page sees of secrets are masks.
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
      title={of === 'all' ? 'Clone job' : 'Rerun what failed'}
      description={of === 'all' ? 'A new job made of the same.' : rerunWords(of, job)}
      size={yaml === null ? 'md' : 'lg'}
      busy={create.isPending}
      onSubmit={submit}
      submitLabel="Create job"
      refusal={'refusal' in again ? again.refusal : null}
      error={isOfYaml || problem?.field === 'name' ? null : create.error}
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
          problems={isOfYaml && problem ? yamlProblems(problem.message) : []}
          onChange={(text) => {
            setYaml(text)
            if (create.isError) create.reset()
          }}
        />
      ) : (
        spec && <SpecWords spec={spec} />
      )}
    </FormDialog>
  )
}

const rerunWords = ({ scenarios, agents, attempts }: Unscored, job: BenchmarkJob): string =>
  `${formatCountOf(attempts, 'attempt has', 'attempts have')} failed, timed out or been cancelled, at ${formatCountOf(scenarios.length, 'scenario')}, of ${shortLabels(agents).join(', ')}. The new job runs those scenarios; this one keeps what it has.${neverBegunWords(progressOf(job))}`

const SpecWords = ({ spec }: { spec: BenchmarkJobSpec }) => {
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

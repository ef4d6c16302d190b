'use client'
import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import type { BenchmarkJob, BenchmarkJobSpec } from '#lib/contract/benchmark-jobs.ts'
import { agentLabel } from '#lib/protocol/report-words.ts'
import { YamlField } from '../create/yaml-field.tsx'
import type { Unscored } from '../grid/scenario-grid.ts'
import { type JobProgress, progressOf, shortLabels, yamlProblems } from '../job-figures.ts'
import { benchmarkJobMutations } from './queries.ts'

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
      needs="benchmarkJobs.create"
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

type RunAgain = { spec: BenchmarkJobSpec } | { refusal: string }

export const cloneOf = ({ job_source, job_spec }: BenchmarkJob): RunAgain => {
  if (job_source?.type === 'harbor' && job_source.inline_yaml != null)
    return { spec: { type: 'harbor', inline_yaml: job_source.inline_yaml } }
  if (!job_source || !job_spec) return { refusal: "The service doesn't report the job's source" }
  const { agent_configs, orchestrator_config, scenario_ids } = job_spec
  if (job_source.type === 'benchmark' && job_source.benchmark_id != null)
    return { spec: { type: 'benchmark', benchmark_id: job_source.benchmark_id, agent_configs, orchestrator_config } }
  if (job_source.type === 'scenarios')
    return { spec: { type: 'scenarios', scenario_ids, agent_configs, orchestrator_config } }
  return { refusal: `Jobs of type ${job_source.type} can't be created here` }
}

export const rerunOf = (job: BenchmarkJob, unscored: Unscored): RunAgain => {
  const { job_source, job_spec } = job
  if (unscored.attempts === 0) return { refusal: 'Every finished attempt has a score' }
  const whole = cloneOf(job)
  if ('refusal' in whole) return whole
  if (whole.spec.type === 'harbor') {
    const narrowed = narrowToTasks(
      job_source?.inline_yaml ?? '',
      unscored.scenarios.map(({ name }) => name),
    )
    return 'refusal' in narrowed ? narrowed : { spec: { type: 'harbor', inline_yaml: narrowed.yaml } }
  }
  const isIncluded = ({ name, model_name = null }: { name: string; model_name?: string | null | undefined }) =>
    unscored.agents.some((agent) => agent.name === name && agent.model === model_name)
  return {
    spec: {
      type: 'scenarios',
      scenario_ids: unscored.scenarios.map(({ id }) => id),
      agent_configs: (job_spec?.agent_configs ?? []).filter(isIncluded),
      orchestrator_config: job_spec?.orchestrator_config,
    },
  }
}

const neverStartedText = ({ finished, total }: JobProgress): string => {
  const left = (total ?? finished) - finished
  return left > 0 ? ` ${formatCountOf(left, 'trial')} never started; to run them too, clone the job.` : ''
}

const exactly = (name: string) => name.replace(/[*?[]/g, '[$&]')

const baseName = (path: unknown) => (typeof path === 'string' ? path.replace(/\/+$/, '').split('/').at(-1) : undefined)

/** Narrows a Harbor job file to these tasks, keeping its comments. Fails with several datasets, as names don't say which. */
export const narrowToTasks = (yaml: string, tasks: readonly string[]): { yaml: string } | { refusal: string } => {
  const file = parseDocument(yaml)
  const [datasets, single] = [file.get('datasets'), file.get('tasks')]
  if (file.errors.length > 0) return { refusal: 'The job file is not valid YAML' }
  const sets = isSeq(datasets) ? (datasets as YAMLSeq<YAMLMap>) : null
  const paths = isSeq(single) ? (single as YAMLSeq<YAMLMap>) : null
  const [first] = sets?.items ?? []
  if (sets && sets.items.length === 1 && isMap(first) && !paths) {
    first.set('task_names', tasks.map(exactly))
    first.delete('n_tasks')
    return { yaml: file.toString() }
  }
  if (paths && !sets) {
    const kept = paths.items.filter((item) => isMap(item) && tasks.includes(baseName(item.get('path')) ?? ''))
    if (kept.length === tasks.length) {
      paths.items = kept
      return { yaml: file.toString() }
    }
  }
  return {
    refusal: 'The job file has several task sources. Clone the job and list the tasks yourself.',
  }
}

'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useDeferredValue, useMemo, useState } from 'react'
import { Chips } from '#components/ui/choice/chips.tsx'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { benchmarkJobMutations } from '../job/queries.ts'
import { yamlProblems } from '../job-figures.ts'
import { benchmarkRunQueries } from '../run/queries.ts'
import { AgentFields } from './agent-fields.tsx'
import { areShown, callOf, exampleFile, type FieldMessages, type JobDraft, newJob, refusedFields } from './job-draft.ts'
import { PartPicker } from './part-picker.tsx'
import { jobPartQueries } from './queries.ts'
import { YamlField } from './yaml-field.tsx'
import { syntaxProblems } from './yaml-syntax.ts'

const none: FieldMessages = new Map()

/** What was typed stays when the dialog is closed or the service refuses; a job that was created clears it. */
export const CreateJobDialog = ({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) => {
  const router = useRouter()
  const [draft, setDraft] = useState<JobDraft>(newJob)
  /** From the first attempt on what is wrong is said as it is typed. */
  const [hasTried, setHasTried] = useState(false)
  const call = useMemo(() => callOf(draft), [draft])
  const found = hasTried && 'problems' in call ? call.problems : none
  const create = useMutation(benchmarkJobMutations.create())
  const refusal = create.error ? problemOf(create.error) : null
  const problems = useMemo(
    () => (refusal ? refusedFields(refusal.message, refusal.field ?? undefined) : found),
    [refusal, found],
  )
  const change = (part: Partial<JobDraft>) => {
    setDraft({ ...draft, ...part })
    // What the service refused may be right now: marks would stand beside what they do not mean.
    if (create.isError) create.reset()
  }
  const submit = () => {
    setHasTried(true)
    if ('problems' in call) return
    create.mutate(call.body, {
      onSuccess: ({ id }) => {
        setDraft(newJob)
        setHasTried(false)
        onOpenChange(false)
        router.push(paths.benchmarkJob(id))
      },
    })
  }
  const isOfYaml = draft.source === 'harbor' && (refusal?.field?.startsWith('spec') ?? false)
  const typed = useDeferredValue(draft.yaml)
  const syntax = useMemo(() => syntaxProblems(typed), [typed])
  const missing = found.get('spec.inline_yaml')
  const yamlText =
    isOfYaml && refusal ? yamlProblems(refusal.message) : missing ? [{ line: null, text: missing }] : syntax
  const shownAtFields = draft.source === 'harbor' ? isOfYaml || problems.has('name') : areShown(problems)
  return (
    <FormDialog
      open={open}
      onOpenChange={onOpenChange}
      title="Create benchmark job"
      description="A job runs scenarios with one or more agents, each in a devbox of its own, and scores what they did."
      size="lg"
      busy={create.isPending}
      onSubmit={submit}
      submitLabel="Create job"
      error={shownAtFields ? null : create.error}
    >
      <TextField
        label="Name"
        optional
        error={problems.get('name')}
        value={draft.name}
        onText={(name) => change({ name })}
      />
      <SourceChoice value={draft.source} onChange={(source) => change({ source })} />
      {draft.source === 'harbor' ? (
        <YamlField
          label="Job file"
          value={draft.yaml}
          problems={yamlText}
          placeholder={exampleFile}
          onChange={(yaml) => change({ yaml })}
        />
      ) : (
        <Parts draft={draft} change={change} problems={problems} />
      )}
    </FormDialog>
  )
}

const sources: { value: JobDraft['source']; label: string; words: string }[] = [
  {
    value: 'harbor',
    label: 'Job file',
    words: "In Harbor's format; datasets and tasks are read from folders the service's operator allowed.",
  },
  { value: 'benchmark', label: 'Benchmark', words: 'All scenarios of a benchmark the service has.' },
  { value: 'scenarios', label: 'Scenarios', words: 'Scenarios of the service that you choose.' },
]

const SourceChoice = ({
  value,
  onChange,
}: {
  value: JobDraft['source']
  onChange: (source: JobDraft['source']) => void
}) => (
  <div>
    <Chips
      large
      legend="Source"
      legendClassName="mb-1 font-medium"
      value={value}
      options={sources}
      onChange={onChange}
    />
    <p className="mt-1 text-sm text-muted">{sources.find((source) => source.value === value)?.words}</p>
  </div>
)

interface PartsProps {
  draft: JobDraft
  change: (part: Partial<JobDraft>) => void
  problems: FieldMessages
}

const Parts = ({ draft, change, problems }: PartsProps) => {
  const { data: origins = {} } = useQuery(benchmarkRunQueries.origins())
  const known = useMemo(
    () => Object.values(origins).map(({ agent_name, model_name }) => ({ name: agent_name, model: model_name })),
    [origins],
  )
  const orchestrator = (field: string) => problems.get(`spec.orchestrator_config.${field}`) ?? null
  // Of a scenario that was chosen: shown where they are chosen.
  const ofScenarios = [...problems].filter(([field]) => field.startsWith('spec.scenario_ids')).map(([, text]) => text)
  return (
    <>
      {draft.source === 'benchmark' ? (
        <PartPicker
          label="Benchmark"
          many={false}
          query={jobPartQueries.benchmarks}
          chosen={draft.benchmark ? [draft.benchmark] : []}
          onChoose={([benchmark = null]) => change({ benchmark })}
          error={problems.get('spec.benchmark_id') ?? problems.get('spec')}
          none="The service has no benchmarks yet."
        />
      ) : (
        <PartPicker
          label="Scenarios"
          many
          query={jobPartQueries.scenarios}
          chosen={draft.scenarios}
          onChoose={(scenarios) => change({ scenarios })}
          error={ofScenarios.join('; ') || problems.get('spec')}
          none="The service has no scenarios yet."
        />
      )}
      <AgentFields agents={draft.agents} onChange={(agents) => change({ agents })} problems={problems} known={known} />
      <div className="grid gap-3 sm:grid-cols-3">
        <TextField
          label="Trials at once"
          optional
          inputMode="numeric"
          error={orchestrator('n_concurrent_trials')}
          value={draft.concurrency}
          onText={(concurrency) => change({ concurrency })}
        />
        <TextField
          label="Attempts"
          optional
          inputMode="numeric"
          hint="Of a trial that fails; one outcome is left."
          error={orchestrator('n_attempts')}
          value={draft.attempts}
          onText={(attempts) => change({ attempts })}
        />
        <TextField
          label="Timeout multiplier"
          optional
          inputMode="decimal"
          error={orchestrator('timeout_multiplier')}
          value={draft.timeoutMultiplier}
          onText={(timeoutMultiplier) => change({ timeoutMultiplier })}
        />
      </div>
    </>
  )
}

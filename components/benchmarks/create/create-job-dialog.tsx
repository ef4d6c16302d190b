'use client'
import { zodResolver } from '@hookform/resolvers/zod'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { type ComponentProps, useDeferredValue, useEffect, useId, useMemo } from 'react'
import {
  Controller,
  FormProvider,
  useController,
  useFieldArray,
  useForm,
  useFormContext,
  useWatch,
} from 'react-hook-form'
import { parseDocument } from 'yaml'
import { RecordPicker } from '#components/list/record-picker.tsx'
import { Button } from '#components/ui/button.tsx'
import { Chips } from '#components/ui/choice/chips.tsx'
import { Field, TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Textarea } from '#components/ui/input.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { paths } from '#lib/browser/address/paths.ts'
import type { BenchmarkJobCreate } from '#lib/contract/benchmark-jobs.ts'
import { benchmarkJobMutations } from '../job/queries.ts'
import { type YamlProblem, yamlProblems } from '../job-figures.ts'
import { benchmarkRunQueries } from '../run/queries.ts'
import {
  exampleFile,
  type JobField,
  JobForm,
  type JobFormValues,
  newAgent,
  newJob,
  rejectedFields,
} from './job-form.ts'
import { jobPartQueries } from './queries.ts'
import { YamlField } from './yaml-field.tsx'

export const CreateJobDialog = ({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) => {
  const router = useRouter()
  const form = useForm<JobFormValues, unknown, BenchmarkJobCreate>({
    resolver: zodResolver(JobForm),
    defaultValues: newJob,
  })
  const { mutate, reset, error, isPending } = useMutation(benchmarkJobMutations.create())
  // The service's errors may no longer apply after a change.
  useEffect(() => form.subscribe({ formState: { values: true }, callback: () => reset() }), [form, reset])
  const source = useWatch({ control: form.control, name: 'source' })
  const rejection = error ? problemOf(error) : null
  const isYamlRejected = source === 'harbor' && (rejection?.field?.startsWith('spec') ?? false)
  const rejected = rejection && !isYamlRejected ? rejectedFields(rejection.message, rejection.field ?? null) : null
  const submit = form.handleSubmit((body) =>
    mutate(body, {
      onSuccess: ({ id }) => {
        form.reset()
        onOpenChange(false)
        router.push(paths.benchmarkJob(id))
      },
      onError: (failure) => {
        const { message, field } = problemOf(failure)
        for (const [name, text] of rejectedFields(message, field ?? null) ?? []) form.setError(name, { message: text })
      },
    }),
  )
  return (
    <FormProvider {...form}>
      <FormDialog
        open={open}
        onOpenChange={onOpenChange}
        title="Create benchmark job"
        description="A job runs scenarios with one or more agents, each in its own devbox, and scores the results."
        size="lg"
        busy={isPending}
        onSubmit={() => void submit()}
        needs="benchmarkJobs.create"
        submitLabel="Create job"
        error={isYamlRejected || rejected ? null : error}
      >
        <FormTextField name="name" label="Name" optional />
        <Controller<JobFormValues, 'source'>
          name="source"
          render={({ field }) => (
            <div>
              <Chips
                large
                legend="Source"
                legendClassName="mb-1 font-medium"
                value={field.value}
                options={sources}
                onChange={field.onChange}
              />
              <p className="mt-1 text-sm text-muted">{sources.find(({ value }) => value === field.value)?.hint}</p>
            </div>
          )}
        />
        {source === 'harbor' ? (
          <JobFile rejected={isYamlRejected && rejection ? yamlProblems(rejection.message) : null} />
        ) : (
          <Parts source={source} />
        )}
      </FormDialog>
    </FormProvider>
  )
}

const sources: { value: JobFormValues['source']; label: string; hint: string }[] = [
  {
    value: 'harbor',
    label: 'Job file',
    hint: 'Harbor job file. Datasets and tasks come from folders that the service allows.',
  },
  { value: 'benchmark', label: 'Benchmark', hint: 'All scenarios of a benchmark.' },
  { value: 'scenarios', label: 'Scenarios', hint: 'Individual scenarios.' },
]

const syntaxProblems = (text: string): YamlProblem[] =>
  text.trim() === ''
    ? []
    : parseDocument(text, { prettyErrors: true }).errors.map(({ message, linePos }) => ({
        line: linePos?.[0].line ?? null,
        text: message.split('\n')[0]?.replace(/:$/, '') ?? message,
      }))

const JobFile = ({ rejected }: { rejected: YamlProblem[] | null }) => {
  const { control } = useFormContext<JobFormValues>()
  const yaml = useDeferredValue(useWatch({ control, name: 'yaml' }))
  const syntax = useMemo(() => syntaxProblems(yaml), [yaml])
  return (
    <Controller
      control={control}
      name="yaml"
      render={({ field, fieldState }) => (
        <YamlField
          label="Job file"
          value={field.value}
          problems={rejected ?? (fieldState.error ? [{ line: null, text: fieldState.error.message ?? '' }] : syntax)}
          placeholder={exampleFile}
          onChange={field.onChange}
        />
      )}
    />
  )
}

const Parts = ({ source }: { source: 'benchmark' | 'scenarios' }) => {
  const { control } = useFormContext<JobFormValues>()
  return (
    <>
      <Controller
        key={source}
        control={control}
        name={source === 'benchmark' ? 'benchmark' : 'scenarios'}
        render={({ field: { value, onChange }, fieldState }) => (
          <RecordPicker
            label={source === 'benchmark' ? 'Benchmark' : 'Scenarios'}
            many={source === 'scenarios'}
            query={jobPartQueries[source === 'benchmark' ? 'benchmarks' : 'scenarios']}
            chosen={[value ?? []].flat()}
            onChoose={(chosen) => onChange(source === 'benchmark' ? (chosen[0] ?? null) : chosen)}
            error={fieldState.error?.message}
            none={source === 'benchmark' ? 'No benchmarks yet.' : 'No scenarios yet.'}
          />
        )}
      />
      <AgentFields />
      <div className="grid gap-3 sm:grid-cols-3">
        <FormTextField name="concurrency" label="Concurrent trials" optional inputMode="numeric" />
        <FormTextField
          name="attempts"
          label="Attempts"
          optional
          inputMode="numeric"
          hint="Retries after failures; only the last outcome counts."
        />
        <FormTextField name="timeoutMultiplier" label="Timeout multiplier" optional inputMode="decimal" />
      </div>
    </>
  )
}

interface FormTextFieldProps extends Omit<ComponentProps<typeof TextField>, 'value' | 'onText' | 'error' | 'name'> {
  name: JobField
}

const FormTextField = ({ name, ...props }: FormTextFieldProps) => {
  const { field, fieldState } = useController<JobFormValues>({ name })
  return (
    <TextField
      {...props}
      ref={field.ref}
      value={field.value as string}
      onText={field.onChange}
      onBlur={field.onBlur}
      error={fieldState.error?.message}
    />
  )
}

/** Suggestions; the service decides which agents it knows. */
const publicNames = ['claude-code', 'codex', 'gemini-cli', 'goose', 'opencode']

const editors = {
  variables: { label: 'Environment variables', addLabel: 'Add variable', keyPlaceholder: 'NAME' },
  secrets: {
    label: 'Secrets',
    addLabel: 'Add secret',
    keyPlaceholder: 'VARIABLE',
    valuePlaceholder: 'Secret name',
  },
}

const AgentFields = () => {
  const id = useId()
  const { control } = useFormContext<JobFormValues>()
  const { fields, append, remove } = useFieldArray({ control, name: 'agents' })
  const { data: secretNames = [] } = useQuery(jobPartQueries.secretNames())
  const { data: origins = {} } = useQuery(benchmarkRunQueries.origins())
  const known = Object.values(origins)
  return (
    <div className="space-y-3">
      <datalist id={`${id}-names`}>
        {[...new Set(['nop', ...publicNames, ...known.map(({ agent_name }) => agent_name)])].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <datalist id={`${id}-models`}>
        {[...new Set(known.flatMap(({ model_name }) => model_name ?? []))].map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
      {fields.map((agent, index) => (
        <fieldset key={agent.id} className="min-w-0 space-y-3 rounded-md border border-line p-3">
          <legend className="px-1 font-medium">Agent {index + 1}</legend>
          <div className="grid gap-3 sm:grid-cols-[1fr_1fr_8rem_auto]">
            <FormTextField name={`agents.${index}.name`} label="Agent name" list={`${id}-names`} />
            <FormTextField name={`agents.${index}.model`} label="Model" optional list={`${id}-models`} />
            <FormTextField
              name={`agents.${index}.timeout`}
              label="Timeout (s)"
              optional
              inputMode="numeric"
              placeholder="7200"
            />
            {fields.length > 1 && (
              <IconButton
                icon={X}
                label={`Remove agent ${index + 1}`}
                className="sm:mt-6"
                onClick={() => remove(index)}
              />
            )}
          </div>
          <Controller
            control={control}
            name={`agents.${index}.command`}
            render={({ field, fieldState }) => (
              <Field
                label="Command"
                optional
                hint="Runs with bash in each scenario's devbox. The task is in the file $HARBOR_INSTRUCTION_FILE, the model in $HARBOR_MODEL_NAME. Not needed for nop and agents known to the service."
                error={fieldState.error?.message}
              >
                {(props) => <Textarea {...props} {...field} mono rows={2} />}
              </Field>
            )}
          />
          {(['variables', 'secrets'] as const).map((kind) => (
            <Controller
              key={kind}
              control={control}
              name={`agents.${index}.${kind}`}
              render={({ field, fieldState }) => (
                <KeyValueEditor
                  {...editors[kind]}
                  {...(kind === 'secrets' && {
                    valueSuggestions: secretNames,
                    hint: secretNames.length === 0 ? 'This account has no secrets.' : 'Sets a variable to a secret.',
                  })}
                  value={field.value}
                  onChange={field.onChange}
                  error={fieldState.error?.message}
                />
              )}
            />
          ))}
        </fieldset>
      ))}
      <Button size="sm" icon={Plus} onClick={() => append(newAgent)}>
        Add agent
      </Button>
    </div>
  )
}

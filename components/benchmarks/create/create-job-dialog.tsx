'use client'
import { zodResolver } from '@hookform/resolvers/zod'
import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useDeferredValue, useEffect, useMemo } from 'react'
import { Controller, FormProvider, useForm, useFormContext, useWatch } from 'react-hook-form'
import { parseDocument } from 'yaml'
import { Chips } from '#components/ui/choice/chips.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { paths } from '#lib/browser/address/paths.ts'
import type { BenchmarkJobCreate } from '#lib/contract/benchmark-jobs.ts'
import { benchmarkJobMutations } from '../job/queries.ts'
import { type YamlProblem, yamlProblems } from '../job-figures.ts'
import { AgentFields, FormTextField } from './agent-fields.tsx'
import { exampleFile, JobForm, type JobFormValues, newJob, rejectedFields } from './job-form.ts'
import { PartPicker } from './part-picker.tsx'
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
    hint: 'Harbor job file. Data sets and tasks come from folders that the service allows.',
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
          <PartPicker
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
        <FormTextField name="concurrency" label="Trials at once" optional inputMode="numeric" />
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

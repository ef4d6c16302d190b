'use client'
import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { paths } from '#lib/console/address/paths.ts'
import { benchmarkJobMutations } from '#lib/console/queries/benchmark-jobs.ts'
import { yamlProblems } from './job-figures.ts'
import { YamlField } from './yaml-field.tsx'

/** What was typed stays when the dialog is closed or the service refuses; a job that was created clears it. */
export const CreateJobDialog = ({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) => {
  const router = useRouter()
  const [name, setName] = useState('')
  const [yaml, setYaml] = useState('')
  const [isMissing, setIsMissing] = useState(false)
  const create = useMutation(benchmarkJobMutations.create())
  const problem = create.error ? problemOf(create.error) : null
  const isOfYaml = problem?.field?.startsWith('spec') ?? false
  const problems = isMissing
    ? [{ line: null, text: 'A job file is needed' }]
    : isOfYaml && problem
      ? yamlProblems(problem.message)
      : []
  const submit = () => {
    setIsMissing(yaml.trim() === '')
    if (yaml.trim() === '') return
    create.mutate(
      { ...(name.trim() && { name: name.trim() }), spec: { type: 'harbor', inline_yaml: yaml } },
      {
        onSuccess: ({ id }) => {
          setName('')
          setYaml('')
          onOpenChange(false)
          router.push(paths.benchmarkJob(id))
        },
      },
    )
  }
  return (
    <FormDialog
      open={open}
      onOpenChange={onOpenChange}
      title="Create benchmark job"
      description="From a job file in Harbor's format. Datasets and tasks are read from folders the service's operator allowed."
      size="lg"
      busy={create.isPending}
      onSubmit={submit}
      submitLabel="Create job"
      error={isOfYaml || problem?.field === 'name' ? null : create.error}
    >
      <TextField
        label="Name"
        optional
        error={problem?.field === 'name' ? problem.message : null}
        value={name}
        onText={setName}
      />
      <YamlField
        label="Job file"
        value={yaml}
        problems={problems}
        placeholder={'n_attempts: 1\nagents:\n  - name: oracle\ndatasets:\n  - path: samples/tasks'}
        onChange={(text) => {
          setYaml(text)
          // Lines have moved: the marks would stand beside others.
          if (create.isError) create.reset()
          setIsMissing(false)
        }}
      />
    </FormDialog>
  )
}

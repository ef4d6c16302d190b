'use client'
import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { type FormEvent, useId, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Field } from '#components/ui/field.tsx'
import { Input } from '#components/ui/input.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { paths } from '#lib/console/address/paths.ts'
import { benchmarkJobMutations } from '#lib/console/queries/benchmark-jobs.ts'
import { yamlProblems } from './job-figures.ts'
import { YamlField } from './yaml-field.tsx'

/** What was typed stays when the dialog is closed or the service refuses; a job that was created clears it. */
export const CreateJobDialog = ({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) => {
  const formId = useId()
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
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setIsMissing(yaml.trim() === '')
    if (yaml.trim() === '' || create.isPending) return
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
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Create benchmark job"
      description="From a job file in Harbor's format. Datasets and tasks are read from folders the service's operator allowed."
      size="lg"
      busy={create.isPending}
      footer={
        <>
          <Button onClick={() => onOpenChange(false)} disabledReason={create.isPending ? 'work is under way' : null}>
            Cancel
          </Button>
          <Button type="submit" form={formId} variant="primary" busy={create.isPending}>
            Create job
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={submit} className="space-y-5">
        <Field label="Name" optional error={problem?.field === 'name' ? problem.message : null}>
          {(control) => (
            <Input {...control} value={name} autoComplete="off" onChange={({ target }) => setName(target.value)} />
          )}
        </Field>
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
        {create.error && !isOfYaml && problem?.field !== 'name' && <InlineError error={create.error} />}
      </form>
    </Dialog>
  )
}

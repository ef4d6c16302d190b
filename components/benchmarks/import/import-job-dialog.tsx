'use client'
import { useMutation } from '@tanstack/react-query'
import { FileArchive, Upload } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { TextField } from '#components/ui/field.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatBytes } from '#lib/browser/format.ts'
import type { ImportedJob } from '#lib/contract/benchmark-jobs.ts'
import { benchmarkJobMutations } from '../job/queries.ts'
import { ImportSummary } from './import-summary.tsx'

interface ImportJobDialogProps {
  dropped: File | null
  onClose: () => void
}

export const ImportJobDialog = ({ dropped, onClose }: ImportJobDialogProps) => {
  const [file, setFile] = useState<File | null>(dropped)
  const [agentName, setAgentName] = useState('')
  const [modelName, setModelName] = useState('')
  const [metric, setMetric] = useState('')
  const [part, setPart] = useState(0)
  const leaving = useRef<AbortController>(undefined)
  const chooser = useRef<HTMLInputElement>(null)
  const { mutate, isPending, data, error, reset } = useMutation(benchmarkJobMutations.import())
  useEffect(() => () => leaving.current?.abort(), [])
  const send = (chosen: File) => {
    const abort = new AbortController()
    leaving.current = abort
    setPart(0)
    const choices = { agent_name: agentName, model_name: modelName, judged_metric: metric }
    mutate({ file: chosen, choices, signal: abort.signal, onProgress: setPart })
  }
  const cancel = () => {
    leaving.current?.abort()
    reset()
  }
  const problem = error ? problemOf(error) : null
  const jobs = data?.jobs ?? []
  const lacks = (name: ImportedJob['missing_names'][number]) => jobs.some((job) => job.missing_names.includes(name))
  const lacksNames = lacks('agent_name') || lacks('model_name')
  const hasNewName =
    (lacks('agent_name') && agentName.trim() !== '') || (lacks('model_name') && modelName.trim() !== '')
  const metricError = problem?.field === 'judged_metric' ? problem.message : null
  return (
    <Dialog
      open
      onOpenChange={(isOpen) => isOpen || onClose()}
      title="Import jobs"
      description="Upload a zip of one or more job folders from Harbor or Terminal-Bench, or run logs downloaded from Devdeck."
      busy={isPending}
      footer={
        <>
          <Button onClick={isPending ? cancel : onClose}>{isPending ? 'Cancel import' : 'Close'}</Button>
          {!isPending && (
            <Button icon={FileArchive} onClick={() => chooser.current?.click()}>
              {file ? 'Choose another zip' : 'Choose zip'}
            </Button>
          )}
          {data && lacksNames && (
            <Button
              icon={Upload}
              needs="benchmarkJobs.import"
              disabledReason={hasNewName ? null : 'Enter a missing name first'}
              onClick={() => file && send(file)}
            >
              Import again with names
            </Button>
          )}
          {jobs.length === 1 && data && (
            <ButtonLink variant="primary" href={paths.benchmarkJob(data.job_id)}>
              Open job
            </ButtonLink>
          )}
          {!data && (
            <Button
              variant="primary"
              icon={Upload}
              needs="benchmarkJobs.import"
              busy={isPending}
              disabledReason={file ? null : 'Choose a zip first'}
              onClick={() => file && send(file)}
            >
              Import
            </Button>
          )}
        </>
      }
    >
      <input
        ref={chooser}
        type="file"
        accept=".zip,application/zip"
        aria-label="Zip of jobs"
        className="sr-only"
        tabIndex={-1}
        onChange={({ target }) => {
          reset()
          setFile(target.files?.[0] ?? null)
          target.value = ''
        }}
      />
      <div className="space-y-4">
        {file && (
          <p>
            <VisibleText max={120}>{file.name}</VisibleText>{' '}
            <span className="tabular text-muted">{formatBytes(file.size)}</span>
          </p>
        )}
        {!file && <p>Choose a zip, or drop one on the list of jobs.</p>}
        {data && <ImportSummary imported={data} />}
        {lacksNames && <p>Some trials don't record these names. Importing with names creates another job.</p>}
        {!isPending && (!data || lacks('agent_name')) && (
          <TextField
            label="Agent name"
            optional
            hint="Used for trials whose files don't name their agent."
            placeholder="unknown agent"
            value={agentName}
            onText={setAgentName}
          />
        )}
        {!isPending && (!data || lacks('model_name')) && (
          <TextField
            label="Model name"
            optional
            hint="Used for trials whose files don't name their model."
            value={modelName}
            onText={setModelName}
          />
        )}
        {!isPending && !data && (
          <TextField
            label="Judged metric"
            optional
            hint="Reward key that scores are taken from. Default: reward, or the first key."
            error={metricError}
            value={metric}
            onText={setMetric}
          />
        )}
        {isPending && <Sending part={part} />}
        {error != null && metricError === null && <InlineError error={error} />}
      </div>
    </Dialog>
  )
}

const Sending = ({ part }: { part: number }) => {
  const percent = Math.floor(part * 100)
  return (
    <div className="space-y-1">
      <progress
        aria-label="Progress of the upload"
        value={percent}
        max={100}
        className="h-1.5 w-full overflow-hidden rounded-full [&::-webkit-progress-bar]:bg-surface-3 [&::-webkit-progress-value]:bg-accent"
      />
      <p role="status" className="tabular text-muted">
        {percent < 100 ? `${percent} % uploaded` : 'Uploaded. Reading trials…'}
      </p>
    </div>
  )
}

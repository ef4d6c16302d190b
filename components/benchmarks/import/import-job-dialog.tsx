'use client'
import { useMutation } from '@tanstack/react-query'
import { FileArchive, Upload } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { TextField } from '#components/ui/field.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { Scrolled } from '#components/ui/scrolled.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatBytes, formatCountOf } from '#lib/browser/format.ts'
import type { BenchmarkJobImported } from '#lib/contract/benchmark-jobs.ts'
import { WarningList } from '../job/job-warnings.tsx'
import { benchmarkJobMutations } from '../job/queries.ts'

interface ImportJobDialogProps {
  dropped: File | null
  onClose: () => void
}

export const ImportJobDialog = ({ dropped, onClose }: ImportJobDialogProps) => {
  const [file, setFile] = useState<File | null>(dropped)
  const [agentName, setAgentName] = useState('')
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
    const choices = { agent_name: agentName, judged_metric: metric }
    mutate({ file: chosen, choices, signal: abort.signal, onProgress: setPart })
  }
  const cancel = () => {
    leaving.current?.abort()
    reset()
  }
  const problem = error ? problemOf(error) : null
  const metricError = problem?.field === 'judged_metric' ? problem.message : null
  return (
    <Dialog
      open
      onOpenChange={(isOpen) => isOpen || onClose()}
      title="Import job"
      description="Upload a zip of a job folder from Harbor or Terminal-Bench, or run logs downloaded from Devdeck."
      busy={isPending}
      footer={
        <>
          <Button onClick={isPending ? cancel : onClose}>{isPending ? 'Cancel import' : 'Close'}</Button>
          {!isPending && (
            <Button icon={FileArchive} onClick={() => chooser.current?.click()}>
              {file ? 'Choose another zip' : 'Choose zip'}
            </Button>
          )}
          {data ? (
            <ButtonLink variant="primary" href={paths.benchmarkJob(data.job_id)}>
              Open job
            </ButtonLink>
          ) : (
            <Button
              variant="primary"
              icon={Upload}
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
        aria-label="Zip of a job"
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
        {!isPending && !data && (
          <>
            <TextField
              label="Agent name"
              optional
              hint="Used for trials whose files don't name their agent."
              placeholder="unknown agent"
              value={agentName}
              onText={setAgentName}
            />
            <TextField
              label="Judged metric"
              optional
              hint="Reward key that scores are taken from. Default: reward, or the first key."
              error={metricError}
              value={metric}
              onText={setMetric}
            />
          </>
        )}
        {isPending && <Sending part={part} />}
        {data && <Summary imported={data} />}
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

const Summary = ({ imported: { name, already_imported, n_trials, warnings } }: { imported: BenchmarkJobImported }) => (
  <>
    <Banner
      tone={warnings.length > 0 ? 'attention' : 'ok'}
      role="status"
      title={
        <>
          {already_imported ? 'Already imported: ' : 'Imported: '}
          <VisibleText max={120}>{name}</VisibleText>
        </>
      }
    >
      {formatCountOf(n_trials, 'trial')}
      {already_imported && '; nothing was changed'}
      {warnings.length > 0 ? `, ${formatCountOf(warnings.length, 'warning')}` : ', no warnings'}
    </Banner>
    {warnings.length > 0 && (
      <section aria-label="Warnings" className="space-y-1">
        <h3 className="font-medium">Warnings</h3>
        <Scrolled className="max-h-60 overflow-auto">
          <WarningList warnings={warnings} />
        </Scrolled>
      </section>
    )}
  </>
)

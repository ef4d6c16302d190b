'use client'
import { useMutation } from '@tanstack/react-query'
import { FileArchive } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button, ButtonLink } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { formatBytes } from '#lib/console/frame/format.ts'
import { benchmarkJobMutations } from '#lib/console/queries/benchmark-jobs.ts'
import type { BenchmarkJobImported } from '#lib/contract/benchmark-jobs.ts'
import { formatCount, formatCountOf } from '#lib/language/translate.ts'

interface ImportJobDialogProps {
  /** One that was dropped on the list: it is sent at once. */
  dropped: File | null
  onClose: () => void
}

/** Takes the zip of a job that ran elsewhere, says how far it is, and then what became of it. */
export const ImportJobDialog = ({ dropped, onClose }: ImportJobDialogProps) => {
  const [file, setFile] = useState<File | null>(dropped)
  const [part, setPart] = useState(0)
  const leaving = useRef<AbortController>(undefined)
  const chooser = useRef<HTMLInputElement>(null)
  const { mutate, isPending, data, error, reset } = useMutation(benchmarkJobMutations.import())
  useEffect(() => {
    if (!file) return
    const abort = new AbortController()
    leaving.current = abort
    setPart(0)
    mutate({ file, signal: abort.signal, onProgress: setPart })
    return () => abort.abort()
  }, [file, mutate])
  const cancel = () => {
    leaving.current?.abort()
    setFile(null)
    reset()
  }
  return (
    <Dialog
      open
      onOpenChange={(isOpen) => isOpen || onClose()}
      title="Import job"
      description="A job that Harbor ran elsewhere, or the logs of a run that was made here, as a zip of its folder."
      busy={isPending}
      footer={
        <>
          <Button onClick={isPending ? cancel : onClose}>{isPending ? 'Cancel import' : 'Close'}</Button>
          {data ? (
            <ButtonLink variant="primary" href={paths.benchmarkJob(data.job_id)}>
              Open job
            </ButtonLink>
          ) : (
            <Button
              variant="primary"
              icon={FileArchive}
              disabledReason={isPending ? 'One is being imported' : null}
              onClick={() => chooser.current?.click()}
            >
              Choose zip
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
        {!file && <p>Choose a zip, or drop one on the list of jobs. The service takes it in file by file.</p>}
        {isPending && <Sending part={part} />}
        {data && <Summary imported={data} />}
        {error != null && file && <InlineError error={error} />}
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
        {percent < 100 ? `${percent} % sent` : 'All of it is sent; the service reads the trials'}
      </p>
    </div>
  )
}

const mostShown = 100

const Summary = ({ imported: { name, already_imported, n_trials, warnings } }: { imported: BenchmarkJobImported }) => (
  <>
    <Banner
      tone={warnings.length > 0 ? 'attention' : 'ok'}
      role="status"
      title={
        <>
          {already_imported ? 'This job is here already: ' : 'Imported: '}
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
        <h3 className="font-medium">
          Warnings{' '}
          {warnings.length > mostShown && (
            <span className="tabular text-muted">
              {formatCount(mostShown)} of {formatCount(warnings.length)}
            </span>
          )}
        </h3>
        <ul
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          tabIndex={0}
          className="max-h-60 list-disc space-y-1 overflow-auto pl-5 text-sm"
        >
          {warnings.slice(0, mostShown).map((warning, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the warnings of an import never change
            <li key={at}>
              <VisibleText max={400}>{warning}</VisibleText>
            </li>
          ))}
        </ul>
      </section>
    )}
  </>
)

'use client'
import { Upload as UploadIcon } from 'lucide-react'
import { type FormEvent, useId, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Field } from '#components/ui/field.tsx'
import { Input } from '#components/ui/input.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { fileExists, pathIn } from '#lib/console/api/upload.ts'
import { formatBytes } from '#lib/console/frame/format.ts'
import { maxUploadBytes } from '#lib/contract/files.ts'
import { runUploads } from './run-uploads.tsx'

interface UploadDialogProps {
  devboxId: string
  files: readonly File[]
  /** Where the shell stands, when it has told. */
  folder: string | undefined
  onClose: () => void
}

/** Asks where dropped files go, and whether over what is there already. */
export const UploadDialog = ({ devboxId, files, folder, onClose }: UploadDialogProps) => {
  const formId = useId()
  const [only] = files.length === 1 ? files : []
  const [target, setTarget] = useState(() => (only ? pathIn(folder ?? '', only.name) : (folder ?? '')))
  const [existing, setExisting] = useState<{ target: string; paths: string[] }>()
  const [isAsking, setIsAsking] = useState(false)
  const [problem, setProblem] = useState<Error>()
  const tooLarge = files.filter(({ size }) => size > maxUploadBytes)
  const isKnown = existing?.target === target
  const uploads = files.map((file) => ({ file, path: only ? target.trim() : pathIn(target, file.name) }))
  const isNowhere = only !== undefined && (target.trim() === '' || target.endsWith('/'))

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isAsking || isNowhere || tooLarge.length > 0) return
    if (!isKnown) {
      setIsAsking(true)
      setProblem(undefined)
      try {
        const found = await Promise.all(
          uploads.map(async (each) => (await fileExists(devboxId, each.path)) && each.path),
        )
        const paths = found.filter((path) => path !== false)
        if (paths.length > 0) return setExisting({ target, paths })
      } catch (error) {
        return setProblem(error as Error)
      } finally {
        setIsAsking(false)
      }
    }
    onClose()
    void runUploads(devboxId, uploads)
  }

  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="sm"
      title={only ? 'Upload this file to the devbox?' : `Upload ${files.length} files to the devbox?`}
      footer={
        <>
          <Button onClick={onClose}>Do not upload</Button>
          <Button
            type="submit"
            form={formId}
            variant={isKnown ? 'danger' : 'primary'}
            icon={UploadIcon}
            busy={isAsking}
            disabledReason={
              tooLarge.length > 0
                ? `at most ${formatBytes(maxUploadBytes)} can be uploaded`
                : isNowhere
                  ? 'name the file in the devbox'
                  : null
            }
          >
            {isKnown ? 'Overwrite and upload' : only ? 'Upload file' : `Upload ${files.length} files`}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={submit} className="space-y-4">
        <Field
          label={only ? 'Path in the devbox' : 'Folder in the devbox'}
          hint={
            folder
              ? 'In the folder the shell stands in, unless you change it'
              : 'In the home directory, unless you change it: the shell has not told where it stands'
          }
        >
          {(control) => (
            <Input
              {...control}
              mono
              value={target}
              placeholder={only ? undefined : '~'}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => setTarget(event.target.value)}
            />
          )}
        </Field>
        <ul aria-label="Files" className="max-h-40 divide-y divide-line overflow-y-auto rounded-md border border-line">
          {files.map((file, index) => (
            <li
              // biome-ignore lint/suspicious/noArrayIndexKey: the list does not change, and two folders may hold one name
              key={index}
              className="flex items-center justify-between gap-3 px-2.5 py-1"
            >
              <VisibleText truncate>{file.name}</VisibleText>
              <span className="tabular shrink-0 text-sm text-muted">{formatBytes(file.size)}</span>
            </li>
          ))}
        </ul>
        {isKnown && (
          <p role="alert" className="text-attention">
            {existing.paths.length === 1
              ? 'There is a file already at '
              : `${existing.paths.length} files are there already: `}
            <VisibleText mono max={200}>
              {existing.paths.slice(0, 5).join(', ')}
            </VisibleText>
            {existing.paths.length > 5 && ' …'}. Uploading replaces {existing.paths.length === 1 ? 'it' : 'them'}.
          </p>
        )}
        {problem && <InlineError error={problem} />}
      </form>
    </Dialog>
  )
}

import { useState } from 'react'
import { maxUploadedFiles, type NamedFile } from '#components/files/dropped-files.ts'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { fileExists, pathIn } from '#lib/browser/api/upload.ts'
import { formatBytes, formatCount } from '#lib/browser/format.ts'
import { maxUploadBytes } from '#lib/contract/files.ts'
import { runUploads } from './run-uploads.tsx'

interface UploadDialogProps {
  devboxId: string
  files: readonly NamedFile[]
  /** The shell's folder, if reported. */
  folder: string | undefined
  /** Why this folder was chosen. */
  hint?: string
  /** Called when the upload has finished or failed. */
  onSent?: () => void
  onClose: () => void
}

export const UploadDialog = ({ devboxId, files, folder, hint, onSent, onClose }: UploadDialogProps) => {
  const [only] = files.length === 1 ? files : []
  const [target, setTarget] = useState(() => (only ? pathIn(folder ?? '', only.name) : (folder ?? '')))
  const [existing, setExisting] = useState<{ target: string; paths: string[] }>()
  const [isAsking, setIsAsking] = useState(false)
  const [problem, setProblem] = useState<Error>()
  const isKnown = existing?.target === target
  const uploads = files.map(({ name, file }) => ({ file, path: only ? target.trim() : pathIn(target, name) }))
  const isNowhere = only !== undefined && (target.trim() === '' || target.endsWith('/'))

  const submit = async () => {
    if (!isKnown) {
      setIsAsking(true)
      setProblem(undefined)
      try {
        const paths = await existingOf(
          devboxId,
          uploads.map(({ path }) => path),
        )
        if (paths.length > 0) return setExisting({ target, paths })
      } catch (error) {
        return setProblem(error as Error)
      } finally {
        setIsAsking(false)
      }
    }
    onClose()
    void runUploads(devboxId, uploads).then(onSent)
  }

  const isTooMany = files.length > maxUploadedFiles
  const what = only ? 'file' : `${isTooMany ? `more than ${maxUploadedFiles}` : files.length} files`
  return (
    <FormDialog
      open
      onOpenChange={onClose}
      size="sm"
      title={`Upload ${only ? 'this file' : what}?`}
      onSubmit={submit}
      submitLabel={isKnown ? 'Overwrite and upload' : `Upload ${what}`}
      cancelLabel="Cancel"
      tone={isKnown ? 'danger' : 'primary'}
      busy={isAsking}
      error={problem}
      refusal={
        files.some(({ file }) => file.size > maxUploadBytes)
          ? `The limit is ${formatBytes(maxUploadBytes)} per file`
          : isTooMany
            ? `The limit is ${formatCount(maxUploadedFiles)} files. Upload an archive instead`
            : isNowhere
              ? 'Enter a path'
              : null
      }
    >
      <TextField
        label={only ? 'Path in the devbox' : 'Folder in the devbox'}
        hint={
          hint ??
          (folder
            ? "The shell's current folder"
            : "The home folder, because the shell doesn't report its current folder")
        }
        mono
        value={target}
        placeholder={only ? undefined : '~'}
        onText={setTarget}
      />
      <FileList files={files} />
      {isKnown && <Existing paths={existing.paths} />}
    </FormDialog>
  )
}

/** In batches: a folder may contain hundreds. */
const existingOf = async (devboxId: string, paths: readonly string[]): Promise<string[]> => {
  const existing: string[] = []
  for (let at = 0; at < paths.length; at += askedAtOnce) {
    const some = paths.slice(at, at + askedAtOnce)
    const areThere = await Promise.all(some.map((path) => fileExists(devboxId, path)))
    existing.push(...some.filter((_, index) => areThere[index]))
  }
  return existing
}

const askedAtOnce = 8

const FileList = ({ files }: { files: readonly NamedFile[] }) => (
  <ul aria-label="Files" className="max-h-40 divide-y divide-line overflow-y-auto rounded-md border border-line">
    {files.slice(0, maxUploadedFiles).map(({ name, file }, index) => (
      <li
        // biome-ignore lint/suspicious/noArrayIndexKey: the list does not change, and two folders may hold one name
        key={index}
        className="flex items-center justify-between gap-3 px-2.5 py-1"
      >
        <VisibleText truncate>{name}</VisibleText>
        <span className="tabular shrink-0 text-sm text-muted">{formatBytes(file.size)}</span>
      </li>
    ))}
  </ul>
)

const Existing = ({ paths }: { paths: readonly string[] }) => (
  <p role="alert" className="text-attention">
    {paths.length === 1 ? 'A file already exists at ' : `${paths.length} files already exist: `}
    <VisibleText mono max={200}>
      {paths.slice(0, 5).join(', ')}
    </VisibleText>
    {paths.length > 5 && ' …'}. Uploading replaces {paths.length === 1 ? 'it' : 'them'}.
  </p>
)

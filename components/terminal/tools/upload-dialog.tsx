import { useState } from 'react'
import { maxUploadedFiles, type NamedFile } from '#components/files/dropped-files.ts'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { cutEnd } from '#components/ui/text.ts'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { fileExists, pathIn, uploadFile } from '#lib/browser/api/upload.ts'
import { formatBytes, formatCount, formatCountOf } from '#lib/browser/format.ts'
import { maxUploadBytes } from '#lib/contract/files.ts'

interface UploadDialogProps {
  devboxId: string
  files: readonly NamedFile[]
  folder: string | undefined
  hint?: string
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
        const found = await Promise.all(
          uploads.map(async ({ path }) => ((await fileExists(devboxId, path)) ? [path] : [])),
        )
        const paths = found.flat()
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
      needs="files.upload"
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

const runUploads = async (devboxId: string, uploads: readonly { path: string; file: File }[]): Promise<void> => {
  const id = `upload-${crypto.randomUUID()}`
  const leaving = new AbortController()
  const failures: { path: string; reason: string }[] = []
  let done = 0
  for (const [index, { path, file }] of uploads.entries()) {
    const reportProgress = (part: number) =>
      toast.info(<Uploading file={file} />, {
        id,
        durationMs: Number.POSITIVE_INFINITY,
        description: `${Math.floor(part * 100)} % of ${formatBytes(file.size)}${uploads.length > 1 ? `, file ${index + 1} of ${uploads.length}` : ''}`,
        action: { label: 'Cancel', onClick: () => leaving.abort() },
      })
    reportProgress(0)
    try {
      await uploadFile(devboxId, path, file, { signal: leaving.signal, onProgress: reportProgress })
      done++
    } catch (error) {
      if (leaving.signal.aborted) break
      failures.push({ path, reason: problemOf(error as Error).message })
    }
  }
  const [first] = failures
  if (leaving.signal.aborted)
    // A separate toast, because canceling closes the progress toast.
    toast.attention('Upload canceled', {
      description: `${done} of ${formatCountOf(uploads.length, 'file')} ${done === 1 ? 'was' : 'were'} written.`,
    })
  else if (first)
    toast.danger(`${formatCountOf(failures.length, 'file')} could not be uploaded`, {
      id,
      description: `${cutEnd(first.path, 80)}: ${first.reason}${failures.length > 1 ? ` And ${failures.length - 1} more.` : ''}`,
    })
  else
    toast.ok(`${formatCountOf(done, 'file')} uploaded`, {
      id,
      description: (
        <VisibleText mono max={200}>
          {uploads.map(({ path }) => path).join(', ')}
        </VisibleText>
      ),
    })
}

const Uploading = ({ file }: { file: File }) => (
  <>
    Uploading <VisibleText max={60}>{file.name}</VisibleText>
  </>
)

import { problemOf } from '#components/ui/problem.ts'
import { cutEnd } from '#components/ui/text.ts'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { uploadFile } from '#lib/browser/api/upload.ts'
import { formatBytes, formatCountOf } from '#lib/browser/format.ts'

export interface Upload {
  path: string
  file: File
}

/** Uploads files one after the other and reports progress in a toast. */
export const runUploads = async (devboxId: string, uploads: readonly Upload[]): Promise<void> => {
  const id = `upload-${crypto.randomUUID()}`
  const leaving = new AbortController()
  const failures: { path: string; reason: string }[] = []
  let done = 0
  for (const [index, { path, file }] of uploads.entries()) {
    let shown = -1
    const reportProgress = (part: number) => {
      const percent = Math.floor(part * 100)
      if (percent === shown) return
      shown = percent
      toast.info(<Uploading file={file} />, {
        id,
        durationMs: Number.POSITIVE_INFINITY,
        description: `${percent} % of ${formatBytes(file.size)}${uploads.length > 1 ? `, file ${index + 1} of ${uploads.length}` : ''}`,
        action: { label: 'Cancel', onClick: () => leaving.abort() },
      })
    }
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

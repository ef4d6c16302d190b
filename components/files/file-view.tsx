'use client'
import { useQuery } from '@tanstack/react-query'
import { Download, FileQuestion, Pencil, RefreshCw } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { isTyping } from '#components/ui/is-typing.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { toast } from '#components/ui/toast.tsx'
import { formatBytes } from '#lib/browser/format.ts'
import { editRefusal, type FileContent } from './file-content.ts'
import { downloadFile } from './file-download.ts'
import { draftOf } from './file-drafts.ts'
import { isUtf8, nameWords, within } from './file-path.ts'
import type { FilesPlace } from './files-place.ts'
import { PathBar } from './path-bar.tsx'
import { fileQueries } from './queries.ts'
import { TextEditor } from './text-editor.tsx'
import { TextPreview } from './text-preview.tsx'

interface FileViewProps {
  place: FilesPlace
  /** Absolute. */
  folder: string
  name: string
}

/** What is in a file, as far as it can be shown, and its text to be edited. Backspace goes back to its folder. */
export const FileView = ({ place, folder, name }: FileViewProps) => {
  const { devboxId, refusal } = place
  const path = within(folder, name)
  const nameRefusal = isUtf8(path) ? null : 'its name is not UTF-8, which the service cannot be told: rename it first'
  const off = refusal ?? nameRefusal
  const [isEditing, setIsEditing] = useState(() => draftOf(devboxId, path) !== undefined)
  const file = useQuery({ ...fileQueries.content(devboxId, path), enabled: off === null && !isEditing })
  const { data } = file
  const [isSaving, setIsSaving] = useState(false)
  const goBack = () => place.go(folder, { focused: name })
  useBackspace(goBack)

  const download = async () => {
    setIsSaving(true)
    try {
      await downloadFile(devboxId, path)
    } catch (error) {
      toast.failed('The file could not be downloaded')(error)
    } finally {
      setIsSaving(false)
    }
  }
  const text = data?.kind === 'text' ? data : undefined
  const offEdit = off ?? (text ? editRefusal(text) : 'only text is edited here')
  return (
    <section aria-label="File" className="space-y-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <PathBar place={place} folder={folder} file={name} />
        {!isEditing && (
          <div className="ml-auto flex flex-wrap items-center gap-2">
            {data && <p className="tabular text-sm text-muted">{sizeWords(data)}</p>}
            {data && <RelativeTime prefix="read" ms={file.dataUpdatedAt} className="text-sm text-muted" />}
            {text && <CopyButton what="text" text={() => text.text} />}
            <Button icon={Pencil} disabledReason={offEdit} onClick={() => setIsEditing(true)}>
              Edit file
            </Button>
            <Button icon={Download} busy={isSaving} disabledReason={off} onClick={() => void download()}>
              Download file
            </Button>
            <IconButton
              icon={RefreshCw}
              variant="secondary"
              label="Read the file again"
              busy={file.isFetching}
              disabledReason={off}
              onClick={() => void file.refetch()}
            />
          </div>
        )}
      </div>
      {isEditing ? (
        <TextEditor place={place} path={path} read={text?.text ?? null} onClose={() => setIsEditing(false)} />
      ) : data ? (
        <Content content={data} name={name} />
      ) : off !== null || file.error ? (
        <ErrorState
          title="The file cannot be shown"
          error={file.error ?? new Error(off ?? '')}
          {...(off === null && { query: file })}
          action={<Button onClick={goBack}>Open its folder</Button>}
        />
      ) : (
        <SkeletonRows columns={1} label="Reading the file" />
      )}
    </section>
  )
}

const sizeWords = (content: FileContent): string => {
  const { sizeBytes } = content
  const whole = sizeBytes === null ? 'a file of unknown size' : formatBytes(sizeBytes)
  return content.kind === 'text' && !content.isWhole
    ? `First ${formatBytes(content.shownBytes)} of ${whole} shown`
    : whole
}

const Content = ({ content, name }: { content: FileContent; name: string }) => {
  if (content.kind === 'text') return <TextPreview text={content.text} label={`Text of ${nameWords(name)}`} />
  if (content.kind === 'image')
    return (
      <div className="flex justify-center rounded-md border border-line bg-surface-1 p-4">
        {/* biome-ignore lint/performance/noImgElement: its bytes are here already */}
        <img src={content.url} alt={nameWords(name)} className="max-h-[70dvh] max-w-full object-contain" />
      </div>
    )
  return (
    <EmptyState icon={FileQuestion} title={content.why}>
      Download it to look at it with a program of your computer.
    </EmptyState>
  )
}

const useBackspace = (goBack: () => void) => {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key !== 'Backspace' || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (isTyping(document.activeElement) || document.querySelector('[role=dialog],[role=menu]')) return
      event.preventDefault()
      goBack()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  })
}

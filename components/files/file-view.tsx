'use client'
import { useQuery } from '@tanstack/react-query'
import { Download, FileQuestion, Pencil, RefreshCw } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useEffect, useEffectEvent, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { isTyping } from '#components/ui/is-typing.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { toast } from '#components/ui/toast.tsx'
import { displayName } from '#lib/browser/address/encode-path.ts'
import { formatBytes, formatCount } from '#lib/browser/format.ts'
import { toServiceTime } from '#lib/client/clock.ts'
import { editRefusal, type FileContent } from './file-content.ts'
import { downloadFile } from './file-download.ts'
import { draftOf } from './file-drafts.ts'
import { isUtf8, joinPath } from './file-path.ts'
import type { FilesNav } from './files-nav.ts'
import { PathBar } from './path-bar.tsx'
import { PlainText } from './plain-text.tsx'
import { fileQueries } from './queries.ts'

const loading = () => <SkeletonRows columns={1} label="Loading file" />
const CodeView = dynamic(async () => (await import('./code-view.tsx')).CodeView, { loading, ssr: false })
const TextEditor = dynamic(async () => (await import('./text-editor.tsx')).TextEditor, { loading, ssr: false })
const MarkdownPreview = dynamic(async () => (await import('./markdown-preview.tsx')).MarkdownPreview, { loading })
const CsvPreview = dynamic(async () => (await import('./csv-preview.tsx')).CsvPreview, { loading })

interface FileViewProps {
  nav: FilesNav
  folder: string
  name: string
  /** Counts from 1. */
  line: number | undefined
}

/** Previews or edits a file. Backspace returns to its folder. */
export const FileView = ({ nav, folder, name, line }: FileViewProps) => {
  const { devboxId, refusal } = nav
  const path = joinPath(folder, name)
  const unavailable =
    refusal ?? (isUtf8(path) ? null : "its name isn't UTF-8, which the API doesn't support; rename it first")
  const [isEditing, setIsEditing] = useState(() => draftOf(devboxId, path) !== undefined)
  const file = useQuery({ ...fileQueries.content(devboxId, path), enabled: unavailable === null && !isEditing })
  const { data } = file
  // A link to a line means the source.
  const [mode, setMode] = useState<'preview' | 'source'>(line === undefined && previewOf(name) ? 'preview' : 'source')
  const [isDownloading, setIsDownloading] = useState(false)
  const goBack = () => nav.go(folder, { focused: name })
  useBackspace(goBack)
  // Links in terminals and texts may name a folder.
  const isFolder = data?.kind === 'folder'
  const openFolder = useEffectEvent(() => nav.go(path, { replace: true }))
  useEffect(() => {
    if (isFolder) openFolder()
  }, [isFolder])

  const download = async () => {
    setIsDownloading(true)
    try {
      await downloadFile(devboxId, path)
    } catch (error) {
      toast.failed('Download failed')(error)
    } finally {
      setIsDownloading(false)
    }
  }
  const text = data?.kind === 'text' ? data : undefined
  const editDisabled = unavailable ?? (text ? editRefusal(text) : 'only text files can be edited')
  return (
    <section aria-label="File" className="space-y-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <PathBar nav={nav} folder={folder} file={name} />
        {!isEditing && (
          <div className="ml-auto flex flex-wrap items-center gap-2">
            {data && data.kind !== 'folder' && <p className="tabular text-sm text-muted">{formatSize(data)}</p>}
            {data && (
              <RelativeTime prefix="loaded" ms={toServiceTime(file.dataUpdatedAt)} className="text-sm text-muted" />
            )}
            {text && <CopyButton what="text" text={() => text.text} />}
            {text && previewOf(name) && <ModeSwitch mode={mode} onMode={setMode} />}
            <Button icon={Pencil} needs="files.write" disabledReason={editDisabled} onClick={() => setIsEditing(true)}>
              Edit file
            </Button>
            <IconButton
              icon={Download}
              variant="secondary"
              label="Download file"
              busy={isDownloading}
              disabledReason={unavailable}
              onClick={() => void download()}
            />
            <IconButton
              icon={RefreshCw}
              variant="secondary"
              label="Reload file"
              busy={file.isFetching}
              disabledReason={unavailable}
              onClick={() => void file.refetch()}
            />
          </div>
        )}
      </div>
      {isEditing ? (
        <TextEditor
          nav={nav}
          path={path}
          savedText={text?.text ?? null}
          line={line}
          onClose={() => setIsEditing(false)}
        />
      ) : data ? (
        <Content nav={nav} folder={folder} name={name} content={data} mode={mode} line={line} />
      ) : unavailable !== null || file.error ? (
        <ErrorState
          title="Can't show this file"
          error={file.error ?? new Error(unavailable ?? '')}
          {...(unavailable === null && { query: file })}
          action={<Button onClick={goBack}>Open folder</Button>}
        />
      ) : (
        <SkeletonRows columns={1} label="Loading file" />
      )}
    </section>
  )
}

const formatSize = (content: Exclude<FileContent, { kind: 'folder' }>): string => {
  const { sizeBytes } = content
  const whole = sizeBytes === null ? 'unknown size' : formatBytes(sizeBytes)
  return content.kind === 'text' && !content.isWhole
    ? `First ${formatBytes(content.shownBytes)} of ${whole} shown`
    : whole
}

interface ContentProps {
  nav: FilesNav
  folder: string
  name: string
  content: FileContent
  mode: 'preview' | 'source'
  line: number | undefined
}

const Content = ({ nav, folder, name, content, mode, line }: ContentProps) => {
  if (content.kind === 'text') {
    const { text, isWhole, shownBytes } = content
    const label = `Text of ${displayName(name)}`
    if (text === '') return <p className="rounded-md border border-line px-3 py-2 text-muted">Empty file</p>
    if (mode === 'preview' && previewOf(name) === 'markdown')
      return <MarkdownPreview label={label} devboxId={nav.devboxId} folder={folder} text={text} />
    if (mode === 'preview') return <CsvPreview label={label} fileName={name} text={text} isWhole={isWhole} />
    if (isWhole)
      return (
        <section aria-label={label}>
          <CodeView label={label} fileName={name} text={text.replaceAll('\r\n', '\n')} line={line} />
        </section>
      )
    return (
      <>
        <p className="text-sm text-muted">
          Too large for the editor: the first {formatBytes(shownBytes)} are shown without syntax colors.
          {line !== undefined && line > text.split('\n').length && ` Line ${formatCount(line)} is further down.`}
        </p>
        <PlainText label={label} text={text} line={line} />
      </>
    )
  }
  if (content.kind === 'image')
    return (
      <div className="flex justify-center rounded-md border border-line bg-surface-1 p-4">
        {/* biome-ignore lint/performance/noImgElement: a data URL needs no optimization */}
        <img src={content.url} alt={displayName(name)} className="max-h-[70dvh] max-w-full object-contain" />
      </div>
    )
  if (content.kind === 'folder') return loading()
  return (
    <EmptyState icon={FileQuestion} title={content.why}>
      Download the file to open it on your computer.
    </EmptyState>
  )
}

type Preview = 'markdown' | 'table'

const previewOf = (name: string): Preview | null => {
  if (/\.(md|markdown|mdown)$/i.test(name)) return 'markdown'
  return /\.(csv|tsv|tab)$/i.test(name) ? 'table' : null
}

/** Switches between a file's preview and its source. */
const ModeSwitch = ({ mode, onMode }: { mode: 'preview' | 'source'; onMode: (mode: 'preview' | 'source') => void }) => (
  <fieldset className="inline-flex">
    <legend className="sr-only">Show</legend>
    {(['preview', 'source'] as const).map((each) => (
      <Button
        key={each}
        aria-pressed={each === mode}
        onClick={() => onMode(each)}
        className="first:rounded-r-none last:-ml-px last:rounded-l-none aria-pressed:bg-surface-3"
      >
        {each === 'preview' ? 'Preview' : 'Source'}
      </Button>
    ))}
  </fieldset>
)

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

'use client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Download, FileQuestion, Pencil, RefreshCw, Save } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState, InlineError } from '#components/ui/error-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Textarea } from '#components/ui/input.tsx'
import { isTyping } from '#components/ui/is-typing.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { visiblePieces } from '#components/ui/text.ts'
import { toast } from '#components/ui/toast.tsx'
import { displayName } from '#lib/browser/address/encode-path.ts'
import { formatBytes } from '#lib/browser/format.ts'
import { toServiceTime } from '#lib/client/clock.ts'
import { editRefusal, type FileContent, lineEnding, saveText } from './file-content.ts'
import { downloadFile } from './file-download.ts'
import { baseName, isUtf8, joinPath } from './file-path.ts'
import type { FilesNav } from './files-nav.ts'
import { PathBar } from './path-bar.tsx'
import { fileQueries } from './queries.ts'

interface FileViewProps {
  nav: FilesNav
  folder: string
  name: string
}

/** Previews or edits a file. Backspace returns to its folder. */
export const FileView = ({ nav, folder, name }: FileViewProps) => {
  const { devboxId, refusal } = nav
  const path = joinPath(folder, name)
  const unavailable =
    refusal ?? (isUtf8(path) ? null : "its name isn't UTF-8, which the API doesn't support; rename it first")
  const [isEditing, setIsEditing] = useState(() => draftOf(devboxId, path) !== undefined)
  const file = useQuery({ ...fileQueries.content(devboxId, path), enabled: unavailable === null && !isEditing })
  const { data } = file
  const [isDownloading, setIsDownloading] = useState(false)
  const goBack = () => nav.go(folder, { focused: name })
  useBackspace(goBack)

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
            {data && <p className="tabular text-sm text-muted">{formatSize(data)}</p>}
            {data && (
              <RelativeTime prefix="loaded" ms={toServiceTime(file.dataUpdatedAt)} className="text-sm text-muted" />
            )}
            {text && <CopyButton what="text" text={() => text.text} />}
            <Button icon={Pencil} disabledReason={editDisabled} onClick={() => setIsEditing(true)}>
              Edit file
            </Button>
            <Button icon={Download} busy={isDownloading} disabledReason={unavailable} onClick={() => void download()}>
              Download file
            </Button>
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
        <TextEditor nav={nav} path={path} savedText={text?.text ?? null} onClose={() => setIsEditing(false)} />
      ) : data ? (
        <Content content={data} name={name} />
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

const formatSize = (content: FileContent): string => {
  const { sizeBytes } = content
  const whole = sizeBytes === null ? 'unknown size' : formatBytes(sizeBytes)
  return content.kind === 'text' && !content.isWhole
    ? `First ${formatBytes(content.shownBytes)} of ${whole} shown`
    : whole
}

const Content = ({ content, name }: { content: FileContent; name: string }) => {
  if (content.kind === 'text') return <TextPreview text={content.text} label={`Text of ${displayName(name)}`} />
  if (content.kind === 'image')
    return (
      <div className="flex justify-center rounded-md border border-line bg-surface-1 p-4">
        {/* biome-ignore lint/performance/noImgElement: a data URL needs no optimization */}
        <img src={content.url} alt={displayName(name)} className="max-h-[70dvh] max-w-full object-contain" />
      </div>
    )
  return (
    <EmptyState icon={FileQuestion} title={content.why}>
      Download the file to open it on your computer.
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

const TextPreview = ({ text, label }: { text: string; label: string }) => {
  const pieces = useMemo(() => visibleText(text), [text])
  const numbers = useMemo(() => lineNumbers(text), [text])
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable by keyboard
      tabIndex={0}
      className="flex max-h-[70dvh] overflow-auto rounded-md border border-line bg-surface-0 font-mono text-sm"
    >
      <pre
        aria-hidden
        className="sticky left-0 min-h-full shrink-0 self-start border-r border-line bg-surface-1 px-2 py-2 text-right text-muted select-none"
      >
        {numbers}
      </pre>
      <pre className="py-2 pr-4 pl-3 [tab-size:4]">
        {text === '' ? <span className="text-muted">Empty file</span> : pieces}
      </pre>
    </section>
  )
}

const lineNumbers = (text: string): string => {
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  return Array.from({ length: Math.max(1, lines) }, (_, index) => index + 1).join('\n')
}

/** Marks invisible characters, so that nothing in the text is hidden. */
const visibleText = (text: string) =>
  visiblePieces(text.replaceAll('\r\n', '\n'), '\n\t').map(({ at, text: shown, codePoint }) =>
    codePoint === undefined ? (
      shown
    ) : (
      <span key={at} title={codePoint} className="rounded-sm bg-surface-2 px-0.5 text-muted">
        {shown}
      </span>
    ),
  )

interface TextEditorProps {
  nav: FilesNav
  path: string
  /** The text of the file; an existing draft takes precedence. */
  savedText: string | null
  onClose: () => void
}

const TextEditor = ({ nav: { devboxId, refusal }, path, savedText, onClose }: TextEditorProps) => {
  const [draft, setDraft] = useState(() => draftOf(devboxId, path) ?? { base: savedText, text: savedText ?? '' })
  const [conflict, setConflict] = useState<{ theirs: string | null }>()
  const queryClient = useQueryClient()
  const isChanged = draft.text !== draft.base
  const latest = useRef(draft.text)
  const change = (next: FileDraft) => {
    latest.current = next.text
    setDraft(next)
    saveDraft(devboxId, path, next)
  }
  const save = useMutation({
    mutationFn: ({ base, text }: FileDraft) => saveText(devboxId, path, { base, text }),
    onSuccess: (result, { text }) => {
      if (!result.isSaved) return setConflict({ theirs: result.theirs })
      toast.ok('File saved')
      void queryClient.invalidateQueries({ queryKey: fileQueries.all(devboxId) })
      // Keeps what was typed while saving.
      if (latest.current !== text) return change({ base: text, text: latest.current })
      saveDraft(devboxId, path, undefined)
      onClose()
    },
  })
  const submit = (base: string | null) => {
    setConflict(undefined)
    if (!save.isPending) save.mutate({ base, text: draft.text })
  }
  const discard = () => {
    saveDraft(devboxId, path, undefined)
    onClose()
  }
  const saveRefusal = refusal ?? (isChanged ? null : 'no changes')
  // A textarea normalizes line endings; the file keeps its own.
  const eol = lineEnding(draft.base ?? '') === '\r\n' ? '\r\n' : '\n'
  return (
    <form
      className="space-y-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (saveRefusal === null) submit(draft.base)
      }}
      onKeyDown={(event) => {
        if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return
        event.preventDefault()
        event.currentTarget.requestSubmit()
      }}
    >
      {conflict && (
        <Banner
          tone="attention"
          role="alert"
          title={
            conflict.theirs === null
              ? 'The file was deleted or is no longer a text file'
              : 'The file changed since you opened it'
          }
          actions={
            <>
              {conflict.theirs !== null && (
                <Button
                  onClick={() => {
                    setConflict(undefined)
                    change({ base: conflict.theirs, text: conflict.theirs ?? '' })
                  }}
                >
                  Load the file's text
                </Button>
              )}
              <Button variant="danger" onClick={() => submit(conflict.theirs)}>
                Overwrite
              </Button>
            </>
          }
        >
          Nothing was saved. Your edits are still here.
        </Banner>
      )}
      {save.error && <InlineError error={save.error} />}
      <Textarea
        mono
        autoFocus
        aria-label={`Text of ${displayName(baseName(path))}`}
        className="h-[min(60dvh,40rem)] resize-y text-sm whitespace-pre"
        value={draft.text.replaceAll('\r\n', '\n')}
        onChange={({ target }) => change({ ...draft, text: target.value.replaceAll('\n', eol) })}
      />
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" variant="primary" icon={Save} busy={save.isPending} disabledReason={saveRefusal}>
          Save file
        </Button>
        <Button onClick={discard}>{isChanged ? 'Discard changes' : 'Close editor'}</Button>
        <p role="status" className="text-sm text-muted">
          {isChanged ? 'Unsaved changes' : 'No changes'}
          {eol === '\r\n' && ' · Windows line endings (CRLF)'}
        </p>
      </div>
    </form>
  )
}

interface FileDraft {
  /** The text of the file when editing started; null if it doesn't exist. */
  base: string | null
  text: string
}

/** Drafts survive switching tabs and folders, until the page is left. */
const drafts = new Map<string, FileDraft>()

const draftKey = (devboxId: string, path: string) => `${devboxId}\0${path}`

const draftOf = (devboxId: string, path: string): FileDraft | undefined => drafts.get(draftKey(devboxId, path))

const saveDraft = (devboxId: string, path: string, draft: FileDraft | undefined): void => {
  if (draft && draft.text !== draft.base) drafts.set(draftKey(devboxId, path), draft)
  else drafts.delete(draftKey(devboxId, path))
  if (drafts.size > 0) addEventListener('beforeunload', confirmLeaving)
  else removeEventListener('beforeunload', confirmLeaving)
}

const confirmLeaving = (event: BeforeUnloadEvent) => event.preventDefault()

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Save } from 'lucide-react'
import { useRef, useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Textarea } from '#components/ui/input.tsx'
import { toast } from '#components/ui/toast.tsx'
import { lineEnding, saveText } from './file-content.ts'
import { baseName, displayName } from './file-path.ts'
import type { FilesNav } from './files-nav.ts'
import { fileQueries } from './queries.ts'

interface TextEditorProps {
  nav: FilesNav
  path: string
  /** The text of the file; an existing draft takes precedence. */
  savedText: string | null
  onClose: () => void
}

export const TextEditor = ({ nav: { devboxId, refusal }, path, savedText, onClose }: TextEditorProps) => {
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

export interface FileDraft {
  /** The text of the file when editing started; null if it doesn't exist. */
  base: string | null
  text: string
}

/** Drafts survive switching tabs and folders, until the page is left. */
const drafts = new Map<string, FileDraft>()

const draftKey = (devboxId: string, path: string) => `${devboxId}\0${path}`

export const draftOf = (devboxId: string, path: string): FileDraft | undefined => drafts.get(draftKey(devboxId, path))

const saveDraft = (devboxId: string, path: string, draft: FileDraft | undefined): void => {
  if (draft && draft.text !== draft.base) drafts.set(draftKey(devboxId, path), draft)
  else drafts.delete(draftKey(devboxId, path))
  if (drafts.size > 0) addEventListener('beforeunload', confirmLeaving)
  else removeEventListener('beforeunload', confirmLeaving)
}

const confirmLeaving = (event: BeforeUnloadEvent) => event.preventDefault()

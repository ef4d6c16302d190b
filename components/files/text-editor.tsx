import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Save } from 'lucide-react'
import { useRef, useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Textarea } from '#components/ui/input.tsx'
import { toast } from '#components/ui/toast.tsx'
import { lineEndsOf, saveText } from './file-content.ts'
import { draftOf, type FileDraft, keepDraft } from './file-drafts.ts'
import { nameIn, nameWords } from './file-path.ts'
import type { FilesPlace } from './files-place.ts'
import { fileQueries } from './queries.ts'

interface TextEditorProps {
  place: FilesPlace
  path: string
  /** What was read of the file; what is being edited already goes before it. */
  read: string | null
  onClose: () => void
}

/** A text to be edited. What is typed stays whatever comes of saving it, and until it is saved or discarded. */
export const TextEditor = ({ place: { devboxId, refusal }, path, read, onClose }: TextEditorProps) => {
  const [draft, setDraft] = useState(() => draftOf(devboxId, path) ?? { base: read, text: read ?? '' })
  const [conflict, setConflict] = useState<{ theirs: string | null }>()
  const queryClient = useQueryClient()
  const isChanged = draft.text !== draft.base
  const latest = useRef(draft.text)
  const change = (next: FileDraft) => {
    latest.current = next.text
    setDraft(next)
    keepDraft(devboxId, path, next)
  }
  const save = useMutation({
    mutationFn: ({ base, text }: FileDraft) => saveText(devboxId, path, { base, text }),
    onSuccess: (result, { text }) => {
      if (!result.isSaved) return setConflict({ theirs: result.theirs })
      toast.ok('The file was saved')
      void queryClient.invalidateQueries({ queryKey: fileQueries.all(devboxId) })
      // What was typed meanwhile is not in the file yet.
      if (latest.current !== text) return change({ base: text, text: latest.current })
      keepDraft(devboxId, path, undefined)
      onClose()
    },
  })
  const submit = (base: string | null) => {
    setConflict(undefined)
    if (!save.isPending) save.mutate({ base, text: draft.text })
  }
  const discard = () => {
    keepDraft(devboxId, path, undefined)
    onClose()
  }
  const offSave = refusal ?? (isChanged ? null : 'nothing was changed')
  // A field for text knows one end of a line; the file keeps the one it has.
  const end = lineEndsOf(draft.base ?? '') === '\r\n' ? '\r\n' : '\n'
  return (
    <form
      className="space-y-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (offSave === null) submit(draft.base)
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
              ? 'The file was deleted meanwhile, or is no text any more'
              : 'The file was changed meanwhile'
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
                  Take what is in the file
                </Button>
              )}
              <Button variant="danger" onClick={() => submit(conflict.theirs)}>
                Save mine over it
              </Button>
            </>
          }
        >
          Nothing was written. What you typed is still here.
        </Banner>
      )}
      {save.error && <InlineError error={save.error} />}
      <Textarea
        mono
        autoFocus
        aria-label={`Text of ${nameWords(nameIn(path))}`}
        className="h-[min(60dvh,40rem)] resize-y text-sm whitespace-pre"
        value={draft.text.replaceAll('\r\n', '\n')}
        onChange={({ target }) => change({ ...draft, text: target.value.replaceAll('\n', end) })}
      />
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" variant="primary" icon={Save} busy={save.isPending} disabledReason={offSave}>
          Save file
        </Button>
        <Button onClick={discard}>{isChanged ? 'Discard changes' : 'Close editor'}</Button>
        <p role="status" className="text-sm text-muted">
          {isChanged ? 'Not saved' : 'Nothing was changed'}
          {end === '\r\n' && '; its lines end as on Windows, and will'}
        </p>
      </div>
    </form>
  )
}

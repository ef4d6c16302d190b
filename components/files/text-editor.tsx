'use client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Save } from 'lucide-react'
import { useRef, useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { useRefusal } from '#components/ui/refusals.ts'
import { toast } from '#components/ui/toast.tsx'
import { displayName } from '#lib/browser/address/encode-path.ts'
import { isMac } from '#lib/terminal/page/shortcuts.ts'
import { CodeView } from './code-view.tsx'
import { lineEnding, saveText } from './file-content.ts'
import { draftOf, type FileDraft, saveDraft } from './file-drafts.ts'
import { baseName } from './file-path.ts'
import type { FilesNav } from './files-nav.ts'
import { fileQueries } from './queries.ts'

interface TextEditorProps {
  nav: FilesNav
  path: string
  /** The text of the file; an existing draft takes precedence. */
  savedText: string | null
  line?: number | undefined
  onClose: () => void
}

const control = isMac ? '⌘' : 'Ctrl'

/** Saves with Ctrl+S, and only if the file is as it was when editing started. */
export const TextEditor = ({ nav: { devboxId, refusal }, path, savedText, line, onClose }: TextEditorProps) => {
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
  const saveRefusal = useRefusal('files.write', refusal ?? (isChanged ? null : 'no changes'))
  // The editor has only \n; the file keeps its own line endings.
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
              <Button variant="danger" needs="files.write" onClick={() => submit(conflict.theirs)}>
                Overwrite
              </Button>
            </>
          }
        >
          Nothing was saved. Your edits are still here.
        </Banner>
      )}
      {save.error && <InlineError error={save.error} />}
      <CodeView
        label={`Text of ${displayName(baseName(path))}`}
        fileName={baseName(path)}
        text={draft.text.replaceAll('\r\n', '\n')}
        line={line}
        onText={(text) => change({ ...draft, text: text.replaceAll('\n', eol) })}
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
        <p className="ml-auto text-sm text-muted max-md:hidden">
          {control}+S saves, {control}+F finds, {control}+G goes to a line, Escape then Tab leaves
        </p>
      </div>
    </form>
  )
}

import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { displayName } from '#lib/browser/address/encode-path.ts'
import { formatBytes, formatCount } from '#lib/browser/format.ts'
import { formatContents } from './file-commands.ts'
import { joinPath, nameProblem } from './file-path.ts'
import type { FolderEntry } from './folder-listing.ts'
import { fileMutations, fileQueries } from './queries.ts'

interface NameDialogProps {
  devboxId: string
  folder: string
  /** The entry to rename; without it, a folder is created. */
  name?: string
  onNamed: (name: string) => void
  onClose: () => void
}

export const NameDialog = ({ devboxId, folder, name, onNamed, onClose }: NameDialogProps) => {
  const [text, setText] = useState(name === undefined ? '' : displayName(name))
  const make = useMutation(fileMutations.makeFolder(devboxId))
  const rename = useMutation(fileMutations.rename(devboxId))
  const { isPending, error } = name === undefined ? make : rename
  const submit = () => {
    if (nameProblem(text) !== null) return
    const onSuccess = () => {
      onNamed(text)
      onClose()
    }
    if (name === undefined) make.mutate(joinPath(folder, text), { onSuccess })
    else rename.mutate({ path: joinPath(folder, name), name: text }, { onSuccess })
  }
  return (
    <FormDialog
      open
      onOpenChange={onClose}
      size="sm"
      title={name === undefined ? 'New folder' : 'Rename'}
      busy={isPending}
      onSubmit={submit}
      needs="executions.executeSync"
      submitLabel={name === undefined ? 'Create folder' : 'Rename'}
      refusal={text === name ? 'the name is unchanged' : nameProblem(text)}
      error={error}
    >
      <TextField
        label="Name"
        mono
        value={text}
        onText={setText}
        hint={`In ${displayName(folder)}`}
        onFocus={({ currentTarget }) => currentTarget.setSelectionRange(0, stemLength(currentTarget.value))}
      />
    </FormDialog>
  )
}

/** The length of the name without its extension, which is selected. */
const stemLength = (name: string): number => {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? dot : name.length
}

interface DeleteDialogProps {
  devboxId: string
  folder: string
  entries: readonly FolderEntry[]
  onDeleted: () => void
  onClose: () => void
}

export const DeleteDialog = ({ devboxId, folder, entries, onDeleted, onClose }: DeleteDialogProps) => {
  const files = entries.map(({ name }) => joinPath(folder, name))
  const contents = useQuery(fileQueries.contentsCount(devboxId, files))
  const remove = useMutation(fileMutations.delete(devboxId))
  const [only] = entries.length === 1 ? entries : []
  const noun = only ? (only.type === 'd' ? 'folder' : only.type === 'l' ? 'link' : 'file') : 'entries'
  const counted = contents.data
    ? `${formatContents(contents.data)} in total`
    : contents.error
      ? "couldn't count the contents"
      : 'counting the contents'
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={only ? `Delete this ${noun}?` : `Delete ${formatCount(entries.length)} entries?`}
      consequence={
        <>
          {only ? (
            <VisibleText mono max={200}>
              {displayName(only.name)}
            </VisibleText>
          ) : (
            <>
              <VisibleText mono max={200}>
                {entries
                  .slice(0, 5)
                  .map(({ name }) => displayName(name))
                  .join(', ')}
              </VisibleText>
              {entries.length > 5 && ` and ${formatCount(entries.length - 5)} more`}
            </>
          )}{' '}
          {only?.type === 'f' && `(${formatBytes(only.sizeBytes)}) `}
          will be deleted from the devbox
          {only?.type === 'l' && '; its target stays'}
          {(!only || only.type === 'd') && (
            <>
              {' '}
              with everything in {only ? 'it' : 'them'}: <span role="status">{counted}</span>
            </>
          )}
          . This can't be undone.
        </>
      }
      needs="executions.executeSync"
      confirmLabel={only ? `Delete ${noun}` : `Delete ${formatCount(entries.length)} entries`}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() =>
        remove.mutate(files, {
          onSuccess: () => {
            onDeleted()
            onClose()
          },
        })
      }
    />
  )
}

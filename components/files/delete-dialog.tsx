import { useMutation, useQuery } from '@tanstack/react-query'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatBytes, formatCount } from '#lib/browser/format.ts'
import { formatContents } from './file-commands.ts'
import { displayName, joinPath } from './file-path.ts'
import type { FolderEntry } from './folder-listing.ts'
import { fileMutations, fileQueries } from './queries.ts'

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
          . This cannot be undone.
        </>
      }
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

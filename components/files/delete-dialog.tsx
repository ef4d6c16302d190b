import { useMutation, useQuery } from '@tanstack/react-query'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatBytes, formatCount } from '#lib/browser/format.ts'
import { extentWords } from './file-commands.ts'
import { nameWords, within } from './file-path.ts'
import type { FolderEntry } from './folder-listing.ts'
import { fileMutations, fileQueries } from './queries.ts'

interface DeleteDialogProps {
  devboxId: string
  folder: string
  entries: readonly FolderEntry[]
  onDeleted: () => void
  onClose: () => void
}

/** Says what goes before it does. */
export const DeleteDialog = ({ devboxId, folder, entries, onDeleted, onClose }: DeleteDialogProps) => {
  const files = entries.map(({ name }) => within(folder, name))
  const extent = useQuery(fileQueries.extent(devboxId, files))
  const remove = useMutation(fileMutations.delete(devboxId))
  const [only] = entries.length === 1 ? entries : []
  const what = only ? (only.type === 'd' ? 'folder' : only.type === 'l' ? 'link' : 'file') : 'entries'
  const counted = extent.data
    ? `${extentWords(extent.data)} in all`
    : extent.error
      ? 'how much is in them could not be counted'
      : 'counting what is in them'
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={only ? `Delete this ${what}?` : `Delete ${formatCount(entries.length)} entries?`}
      consequence={
        <>
          {only ? (
            <VisibleText mono max={200}>
              {nameWords(only.name)}
            </VisibleText>
          ) : (
            <>
              <VisibleText mono max={200}>
                {entries
                  .slice(0, 5)
                  .map(({ name }) => nameWords(name))
                  .join(', ')}
              </VisibleText>
              {entries.length > 5 && ` and ${formatCount(entries.length - 5)} more`}
            </>
          )}{' '}
          {only?.type === 'f' && `(${formatBytes(only.sizeBytes)}) `}
          will be deleted from the disk of the devbox
          {only?.type === 'l' && '; what it leads to stays'}
          {(!only || only.type === 'd') && (
            <>
              {' '}
              with everything in {only ? 'it' : 'them'}: <span role="status">{counted}</span>
            </>
          )}
          . This cannot be undone.
        </>
      }
      confirmLabel={only ? `Delete ${what}` : `Delete ${formatCount(entries.length)} entries`}
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

import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import type { NamedFile } from './dropped-files.ts'
import type { FolderEntry } from './folder-listing.ts'

const UploadDialog = loadOnUse(async () => (await import('#components/terminal/tools/upload-dialog.tsx')).UploadDialog)
const NameDialog = loadOnUse(async () => (await import('./name-dialog.tsx')).NameDialog)
const DeleteDialog = loadOnUse(async () => (await import('./delete-dialog.tsx')).DeleteDialog)

/** A change of a folder that a dialog asks about. */
export type FolderChange =
  | { what: 'upload'; files: readonly NamedFile[] }
  | { what: 'folder' }
  | { what: 'rename'; entry: FolderEntry }
  | { what: 'delete'; entries: readonly FolderEntry[] }

interface FolderDialogProps {
  asked: FolderChange
  devboxId: string
  folder: string
  onUploaded: () => void
  /** A folder was made, or an entry has another name. */
  onNamed: (name: string) => void
  onDeleted: (entries: readonly FolderEntry[]) => void
  onClose: () => void
}

/** Asks how a folder is to be changed, and changes it. */
export const FolderDialog = ({ asked, onUploaded, onNamed, onDeleted, ...dialog }: FolderDialogProps) => {
  switch (asked.what) {
    case 'upload':
      return (
        <UploadDialog
          {...dialog}
          files={asked.files}
          hint="In the folder that is shown, unless you change it"
          onSent={onUploaded}
        />
      )
    case 'folder':
      return <NameDialog {...dialog} onNamed={onNamed} />
    case 'rename':
      return <NameDialog {...dialog} name={asked.entry.name} onNamed={onNamed} />
    case 'delete':
      return <DeleteDialog {...dialog} entries={asked.entries} onDeleted={() => onDeleted(asked.entries)} />
  }
}

import dynamic from 'next/dynamic'
import { useState } from 'react'
import type { NamedFile } from '#components/files/dropped-files.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'
import { FileDropZone } from './file-drop-zone.tsx'

const UploadDialog = dynamic(async () => (await import('./upload-dialog.tsx')).UploadDialog)

/** Uploads files dropped on a terminal to its shell's folder, after confirmation. */
export const FileDrop = ({ opened }: { opened: OpenedTerminal }) => {
  const { session, element, devboxId, focus } = opened
  const [dropped, setDropped] = useState<readonly NamedFile[]>()
  const take = (files: readonly NamedFile[]) => {
    // Lets the dialog restore focus to the terminal.
    focus()
    setDropped(files)
  }
  return (
    <>
      <FileDropZone element={element} folderNow={() => session.folder} onFiles={take} />
      {dropped && (
        <UploadDialog
          devboxId={devboxId}
          files={dropped}
          folder={session.folder}
          onClose={() => setDropped(undefined)}
        />
      )}
    </>
  )
}

import { Upload } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { droppedFiles, type NamedFile } from '#components/files/dropped-files.ts'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'
import { useListener } from './use-pane-events.ts'

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

interface FileDropZoneProps {
  element: HTMLElement
  folderNow: () => string | undefined
  onFiles: (files: readonly NamedFile[]) => void
}

/** Shows the target folder while files are dragged over an element, and accepts them. */
export const FileDropZone = ({ element, folderNow, onFiles }: FileDropZoneProps) => {
  const [over, setOver] = useState<{ folder: string | undefined }>()

  useListener(element, 'dragover', (event) => {
    if (!hasFiles(event)) return
    event.preventDefault()
    if (event.dataTransfer) event.dataTransfer.dropEffect = 'copy'
    setOver((before) => before ?? { folder: folderNow() })
  })
  useListener(element, 'dragleave', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && element.contains(relatedTarget))) setOver(undefined)
  })
  useListener(element, 'drop', (event) => {
    if (!hasFiles(event) || !event.dataTransfer) return
    event.preventDefault()
    setOver(undefined)
    droppedFiles(event.dataTransfer.items).then(
      (files) => (files.length > 0 ? onFiles(files) : toast.attention('No files were dropped')),
      (error: Error) => toast.danger('The dropped files could not be read', { description: error.message }),
    )
  })

  return (
    over && (
      <div className="pointer-events-none absolute inset-0 z-20 flex flex-col items-center justify-center gap-2 border-2 border-dashed border-accent bg-scrim">
        <p className="flex max-w-full items-center gap-2 rounded-md bg-overlay px-3 py-2 text-lg font-medium shadow-overlay">
          <Upload aria-hidden className="size-4 shrink-0" />
          <span className="min-w-0">
            Drop to upload to{' '}
            <VisibleText mono max={100}>
              {over.folder ?? 'the home directory'}
            </VisibleText>
          </span>
        </p>
      </div>
    )
  )
}

const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') ?? false

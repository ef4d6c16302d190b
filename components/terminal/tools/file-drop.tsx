'use client'
import { Upload } from 'lucide-react'
import { useEffect, useState } from 'react'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'
import { UploadDialog } from './upload-dialog.tsx'

/** Files that are dropped on a terminal are uploaded to where its shell stands, once the person has said so. */
export const FileDrop = ({ opened }: { opened: OpenedTerminal }) => {
  const { session, element, devboxId, focus } = opened
  const [over, setOver] = useState<{ folder: string | undefined }>()
  const [dropped, setDropped] = useState<readonly File[]>()

  useEffect(() => {
    const onDragOver = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      if (event.dataTransfer) event.dataTransfer.dropEffect = 'copy'
      setOver((before) => before ?? { folder: session.folder })
    }
    const onDragLeave = ({ relatedTarget }: DragEvent) => {
      if (!(relatedTarget instanceof Node && element.contains(relatedTarget))) setOver(undefined)
    }
    const onDrop = (event: DragEvent) => {
      if (!hasFiles(event) || !event.dataTransfer) return
      event.preventDefault()
      setOver(undefined)
      const { files, folders } = sorted(event.dataTransfer)
      if (folders.length > 0)
        toast.attention('Folders cannot be uploaded', {
          description: `Pack ${folders.length === 1 ? 'it' : 'them'} (tar, zip), drop the archive and unpack it in the terminal.`,
        })
      if (files.length === 0) return
      // The dialog gives the focus back to where it was.
      focus()
      setDropped(files)
    }
    element.addEventListener('dragover', onDragOver)
    element.addEventListener('dragleave', onDragLeave)
    element.addEventListener('drop', onDrop)
    return () => {
      element.removeEventListener('dragover', onDragOver)
      element.removeEventListener('dragleave', onDragLeave)
      element.removeEventListener('drop', onDrop)
    }
  }, [session, element, focus])

  return (
    <>
      {over && (
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
      )}
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

const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') ?? false

const sorted = ({ items }: DataTransfer): { files: File[]; folders: string[] } => {
  const files: File[] = []
  const folders: string[] = []
  for (const item of items) {
    if (item.kind !== 'file') continue
    const file = item.getAsFile()
    // A folder comes as a file, too, that cannot be read.
    if (item.webkitGetAsEntry()?.isDirectory) folders.push(file?.name ?? '')
    else if (file) files.push(file)
  }
  return { files, folders }
}

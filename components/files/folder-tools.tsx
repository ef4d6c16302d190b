import { Download, FolderPlus, FolderUp, RefreshCw, Trash2, Upload } from 'lucide-react'
import { type ChangeEvent, useRef } from 'react'
import { Button } from '#components/ui/button.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { formatCount } from '#lib/browser/format.ts'
import { namedFiles } from './dropped-files.ts'
import type { FolderChange } from './folder-dialog.tsx'
import type { FolderEntry } from './folder-listing.ts'
import type { useFolderDownload } from './use-folder-download.tsx'

/** Why something cannot be done in a folder now; null where it can. */
export interface FolderRefusals {
  read: string | null
  change: string | null
  upload: string | null
  download: string | null
}

interface FolderToolsProps {
  selected: readonly FolderEntry[]
  downloads: ReturnType<typeof useFolderDownload>
  refusals: FolderRefusals
  isReading: boolean
  onRead: () => void
  onAsk: (change: FolderChange) => void
}

/** What can be done with a folder, and with the entries that are selected in it. */
export const FolderTools = ({ selected, downloads, refusals, isReading, onRead, onAsk }: FolderToolsProps) => {
  const { saving, download, downloadFolder } = downloads
  const chooser = useRef<HTMLInputElement>(null)
  const folderChooser = useRef<HTMLInputElement>(null)
  const take = ({ target }: ChangeEvent<HTMLInputElement>) => {
    const files = namedFiles(target.files ?? [])
    target.value = ''
    if (files.length > 0) onAsk({ what: 'upload', files })
  }
  return (
    <div className="ml-auto flex flex-wrap items-center gap-2">
      {selected.length > 0 && (
        <>
          <Button
            icon={Download}
            busy={saving !== undefined}
            disabledReason={refusals.download}
            onClick={() => download(selected)}
          >
            Download {formatCount(selected.length)}
          </Button>
          <Button
            icon={Trash2}
            disabledReason={refusals.change}
            onClick={() => onAsk({ what: 'delete', entries: selected })}
          >
            Delete {formatCount(selected.length)}
          </Button>
        </>
      )}
      <Button icon={Upload} disabledReason={refusals.upload} onClick={() => chooser.current?.click()}>
        Upload files
      </Button>
      <input ref={chooser} type="file" multiple hidden aria-label="Files to upload" onChange={take} />
      <IconButton
        icon={FolderUp}
        variant="secondary"
        label="Upload a folder"
        // Phones choose no folders.
        className="max-sm:hidden"
        disabledReason={refusals.upload}
        onClick={() => folderChooser.current?.click()}
      />
      <input
        ref={(input) => {
          folderChooser.current = input
          // Its types do not know it as an attribute.
          if (input) input.webkitdirectory = true
        }}
        type="file"
        hidden
        aria-label="Folder to upload"
        onChange={take}
      />
      <Button icon={FolderPlus} disabledReason={refusals.change} onClick={() => onAsk({ what: 'folder' })}>
        New folder
      </Button>
      <IconButton
        icon={Download}
        variant="secondary"
        label="Download this folder as an archive"
        busy={saving !== undefined}
        disabledReason={refusals.download}
        onClick={downloadFolder}
      />
      <IconButton
        icon={RefreshCw}
        variant="secondary"
        label="Read the folder again"
        busy={isReading}
        disabledReason={refusals.read}
        onClick={onRead}
      />
    </div>
  )
}

import { Download, FolderPlus, FolderUp, RefreshCw, Search, SquareTerminal, Trash2, Upload } from 'lucide-react'
import { type ChangeEvent, useRef, useState } from 'react'
import { useTerminalRequest } from '#components/terminal/workspace/use-terminal-layout.ts'
import { Button } from '#components/ui/button.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { displayName } from '#lib/browser/address/encode-path.ts'
import { formatCount } from '#lib/browser/format.ts'
import { shellQuote } from '#lib/protocol/shell-words.ts'
import { type NamedFile, namedFiles } from './dropped-files.ts'
import { downloadArchive, downloadFile } from './file-download.ts'
import { baseName, isUtf8, joinPath } from './file-path.ts'
import { type FolderEntry, openTarget } from './folder-listing.ts'

export type FolderChange =
  | { action: 'upload'; files: readonly NamedFile[] }
  | { action: 'create' }
  | { action: 'rename'; entry: FolderEntry }
  | { action: 'delete'; entries: readonly FolderEntry[] }

export interface FolderRefusals {
  reload: string | null
  search: string | null
  change: string | null
  upload: string | null
  download: string | null
}

interface FolderToolsProps {
  devboxId: string
  folder: string
  selected: readonly FolderEntry[]
  downloads: ReturnType<typeof useFolderDownload>
  refusals: FolderRefusals
  isLoading: boolean
  onReload: () => void
  onSearch: () => void
  onChange: (change: FolderChange) => void
}

export const FolderTools = ({
  devboxId,
  folder,
  selected,
  downloads,
  refusals,
  isLoading,
  onReload,
  onSearch,
  onChange,
}: FolderToolsProps) => {
  const askTerminal = useTerminalRequest(devboxId)
  const { downloading, download, downloadFolder } = downloads
  const fileInput = useRef<HTMLInputElement>(null)
  const folderInput = useRef<HTMLInputElement>(null)
  const upload = ({ target }: ChangeEvent<HTMLInputElement>) => {
    const files = namedFiles(target.files ?? [])
    target.value = ''
    if (files.length > 0) onChange({ action: 'upload', files })
  }
  return (
    <div className="ml-auto flex flex-wrap items-center gap-2">
      {selected.length > 0 && (
        <>
          <Button
            icon={Download}
            busy={downloading !== undefined}
            disabledReason={refusals.download}
            onClick={() => download(selected)}
          >
            Download {formatCount(selected.length)}
          </Button>
          <Button
            icon={Trash2}
            disabledReason={refusals.change}
            onClick={() => onChange({ action: 'delete', entries: selected })}
          >
            Delete {formatCount(selected.length)}
          </Button>
        </>
      )}
      <Button icon={Search} disabledReason={refusals.search} onClick={onSearch}>
        Search
      </Button>
      <Button icon={Upload} disabledReason={refusals.upload} onClick={() => fileInput.current?.click()}>
        Upload files
      </Button>
      <input ref={fileInput} type="file" multiple hidden aria-label="Files to upload" onChange={upload} />
      <IconButton
        icon={FolderUp}
        variant="secondary"
        label="Upload folder"
        // Phones can't select folders.
        className="max-sm:hidden"
        disabledReason={refusals.upload}
        onClick={() => folderInput.current?.click()}
      />
      <input
        ref={(input) => {
          folderInput.current = input
          // Not among React's attributes.
          if (input) input.webkitdirectory = true
        }}
        type="file"
        hidden
        aria-label="Folder to upload"
        onChange={upload}
      />
      <Button icon={FolderPlus} disabledReason={refusals.change} onClick={() => onChange({ action: 'create' })}>
        New folder
      </Button>
      <IconButton
        icon={Download}
        variant="secondary"
        label="Download folder as archive"
        busy={downloading !== undefined}
        disabledReason={refusals.download}
        onClick={downloadFolder}
      />
      <IconButton
        icon={SquareTerminal}
        variant="secondary"
        label="Open terminal here"
        needs="/api/terminals"
        disabledReason={refusals.reload}
        onClick={() => askTerminal('prompt', `cd -- ${shellQuote(folder)}`)}
      />
      <IconButton
        icon={RefreshCw}
        variant="secondary"
        label="Reload folder"
        busy={isLoading}
        disabledReason={refusals.reload}
        onClick={onReload}
      />
    </div>
  )
}

/** One download at a time, since the page holds it in memory. */
export const useFolderDownload = (devboxId: string, folder: string) => {
  const [downloading, setDownloading] = useState<string>()
  const run = async (name: string, download: () => Promise<void>) => {
    setDownloading(name)
    try {
      await download()
    } catch (error) {
      toast.danger(<>Couldn't download {name}</>, {
        description: <VisibleText max={300}>{problemOf(error).message}</VisibleText>,
      })
    } finally {
      setDownloading(undefined)
    }
  }
  return {
    downloading,
    download: (entries: readonly FolderEntry[]) => {
      const paths = entries.map(({ name }) => joinPath(folder, name))
      const [only] = entries.length === 1 ? entries : []
      const [path = ''] = paths
      if (only && openTarget(only) === 'file' && isUtf8(path))
        return void run(displayName(only.name), () => downloadFile(devboxId, path))
      const name = only ? displayName(only.name) : `${entries.length} entries`
      void run(name, () => downloadArchive(devboxId, paths))
    },
    downloadFolder: () =>
      void run(displayName(baseName(folder)) || 'the folder', () => downloadArchive(devboxId, [folder])),
  }
}

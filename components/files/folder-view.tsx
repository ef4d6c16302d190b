'use client'
import { useQuery } from '@tanstack/react-query'
import { Download, FolderClosed, FolderPlus, RefreshCw, Trash2, Upload } from 'lucide-react'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { FileDropZone } from '#components/terminal/tools/file-drop-zone.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { isUtf8, nameIn, nameWords, parentOf, within } from '#lib/console/address/file-path.ts'
import { downloadArchive } from '#lib/console/api/file-commands.ts'
import { downloadFile } from '#lib/console/api/file-download.ts'
import { type EntrySort, type FolderEntry, maxListed, opensAs, sortEntries } from '#lib/console/api/folder-listing.ts'
import { formatCount } from '#lib/console/frame/format.ts'
import { emptySelection, select } from '#lib/console/lists/selection.ts'
import { fileQueries } from '#lib/console/queries/devbox/files.ts'
import type { FilesPlace } from './files-place.ts'
import { FolderTable } from './folder-table.tsx'
import { PathBar } from './path-bar.tsx'
import { useFocusAfter, useFolderFocus, useFolderKeys } from './use-folder-keys.ts'

const UploadDialog = loadOnUse(async () => (await import('#components/terminal/tools/upload-dialog.tsx')).UploadDialog)
const NameDialog = loadOnUse(async () => (await import('./name-dialog.tsx')).NameDialog)
const DeleteDialog = loadOnUse(async () => (await import('./delete-dialog.tsx')).DeleteDialog)

type Asked =
  | { what: 'upload'; files: readonly File[] }
  | { what: 'folder' }
  | { what: 'rename'; entry: FolderEntry }
  | { what: 'delete'; entries: readonly FolderEntry[] }

/** What is in a folder, and what can be done with it. Backspace goes up, Delete deletes, F2 renames. */
export const FolderView = ({ place, path }: { place: FilesPlace; path: string }) => {
  const { devboxId, refusal } = place
  const listing = useQuery({ ...fileQueries.folder(devboxId, path), enabled: refusal === null })
  const { data } = listing
  const folder = data?.folder ?? path
  const [sort, setSort] = useState<EntrySort>({ column: 'name', descending: false })
  const [selection, setSelection] = useState(emptySelection)
  const [asked, setAsked] = useState<Asked>()
  const [saving, setSaving] = useState<string>()
  const [element, setElement] = useState<HTMLElement | null>(null)
  const chooser = useRef<HTMLInputElement>(null)
  const rows = useMemo(() => sortEntries(data?.entries ?? [], sort), [data, sort])
  const selected = rows.filter(({ name }) => selection.selected.has(name))
  const pathOf = ({ name }: FolderEntry) => within(folder, name)

  /** One at a time: a page holds what it downloads. */
  const save = async (what: string, take: () => Promise<void>) => {
    setSaving(what)
    try {
      await take()
    } catch (error) {
      toast.danger(<>{what} could not be downloaded</>, {
        description: <VisibleText max={300}>{problemOf(error).message}</VisibleText>,
      })
    } finally {
      setSaving(undefined)
    }
  }
  const download = (entries: readonly FolderEntry[]) => {
    const [only] = entries.length === 1 ? entries : []
    const what = only ? nameWords(only.name) : `${entries.length} entries`
    if (only && opensAs(only) === 'file' && isUtf8(pathOf(only)))
      return save(what, () => downloadFile(devboxId, pathOf(only)))
    return save(what, () => downloadArchive(devboxId, entries.map(pathOf)))
  }
  const goUp = () => folder.startsWith('/') && folder !== '/' && place.go(parentOf(folder), { focused: nameIn(folder) })
  const isReady = data !== undefined && refusal === null
  useFolderKeys((key, name) => {
    const entry = rows.find((each) => each.name === name)
    const chosen = selected.length > 0 ? selected : entry ? [entry] : []
    if (key === 'Backspace') goUp()
    else if (!isReady) return false
    else if (key === 'Delete' && chosen.length > 0) setAsked({ what: 'delete', entries: chosen })
    else if (key === 'F2' && entry) setAsked({ what: 'rename', entry })
    else return false
    return true
  })
  const [wanted, setWanted] = useState<string>()
  useFolderFocus(element, place, data !== undefined)
  useFocusAfter(element, asked === undefined ? wanted : undefined, setWanted)

  const off = refusal ?? (data ? null : 'the folder has not been read')
  const offUpload = off ?? (isUtf8(folder) ? null : 'the name of the folder is not UTF-8: rename it first')
  const offSaving = off ?? (saving === undefined ? null : 'something is being downloaded already')
  const close = () => setAsked(undefined)
  let body: ReactNode
  if (!data && refusal !== null)
    body = (
      <EmptyState icon={FolderClosed} title="This folder was not read before">
        {refusal}.
      </EmptyState>
    )
  else if (!data)
    body = listing.error ? (
      <ErrorState
        title="The folder could not be read"
        error={listing.error}
        query={listing}
        action={folder.startsWith('/') && folder !== '/' && <Button onClick={goUp}>Open the folder above</Button>}
      />
    ) : (
      <SkeletonRows columns={4} label="Reading the folder" />
    )
  else if (rows.length === 0)
    body = (
      <EmptyState icon={FolderPlus} title="This folder is empty">
        Drop files here to upload them.
      </EmptyState>
    )
  else
    body = (
      <FolderTable
        place={place}
        folder={folder}
        rows={rows}
        sort={sort}
        onSort={setSort}
        busy={listing.isFetching && !listing.isFetchedAfterMount}
        selection={{
          selected: selection.selected,
          onSelect: (key, range) =>
            setSelection((before) => select(before, key, { range, order: rows.map(({ name }) => name) })),
          onSelectAll: (isSelected) =>
            setSelection(
              isSelected ? { selected: new Set(rows.map(({ name }) => name)), anchor: null } : emptySelection,
            ),
        }}
        off={off}
        offSaving={offSaving}
        onDownload={(entry) => void download([entry])}
        onRename={(entry) => setAsked({ what: 'rename', entry })}
        onDelete={(entry) => setAsked({ what: 'delete', entries: [entry] })}
      />
    )
  return (
    <section ref={setElement} aria-label="Files" className="relative min-h-72 space-y-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <PathBar place={place} folder={folder} />
        <div className="ml-auto flex flex-wrap items-center gap-2">
          {selected.length > 0 && (
            <>
              <Button
                icon={Download}
                busy={saving !== undefined}
                disabledReason={offSaving}
                onClick={() => void download(selected)}
              >
                Download {formatCount(selected.length)}
              </Button>
              <Button
                icon={Trash2}
                disabledReason={off}
                onClick={() => setAsked({ what: 'delete', entries: selected })}
              >
                Delete {formatCount(selected.length)}
              </Button>
            </>
          )}
          <Button icon={Upload} disabledReason={offUpload} onClick={() => chooser.current?.click()}>
            Upload files
          </Button>
          <Button icon={FolderPlus} disabledReason={off} onClick={() => setAsked({ what: 'folder' })}>
            New folder
          </Button>
          <IconButton
            icon={Download}
            variant="secondary"
            label="Download this folder as an archive"
            busy={saving !== undefined}
            disabledReason={offSaving}
            onClick={() =>
              void save(nameWords(nameIn(folder)) || 'The folder', () => downloadArchive(devboxId, [folder]))
            }
          />
          <IconButton
            icon={RefreshCw}
            variant="secondary"
            label="Read the folder again"
            busy={listing.isFetching}
            disabledReason={refusal}
            onClick={() => void listing.refetch()}
          />
        </div>
      </div>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={({ target }) => {
          const files = [...(target.files ?? [])]
          target.value = ''
          if (files.length > 0) setAsked({ what: 'upload', files })
        }}
      />
      {data && (
        <p role="status" className="tabular flex flex-wrap gap-x-3 text-sm text-muted">
          <span>
            {formatCount(rows.length)} of {formatCount(data.total)} shown
            {selected.length > 0 && `, ${formatCount(selected.length)} selected`}
          </span>
          <RelativeTime prefix="read" ms={listing.dataUpdatedAt} />
          {saving !== undefined && (
            <span>
              Downloading <VisibleText max={60}>{saving}</VisibleText>
            </span>
          )}
        </p>
      )}
      {data && rows.length < data.total && (
        <Banner tone="attention" title={`${formatCount(data.total - rows.length)} more are not listed`}>
          At most {formatCount(maxListed)} entries are, folders first and in the order of their names; the columns sort
          these. Use the terminal for the others.
        </Banner>
      )}
      {data && listing.error && (
        <Banner tone="danger" role="alert" title="The folder could not be read again">
          <VisibleText max={300}>{problemOf(listing.error).message}</VisibleText>
        </Banner>
      )}
      {body}
      {element && offUpload === null && (
        <FileDropZone
          element={element}
          folderNow={() => nameWords(folder)}
          onFiles={(files) => setAsked({ what: 'upload', files })}
        />
      )}
      {asked?.what === 'upload' && (
        <UploadDialog
          devboxId={devboxId}
          files={asked.files}
          folder={folder}
          hint="In the folder that is shown, unless you change it"
          onSent={() => void listing.refetch()}
          onClose={close}
        />
      )}
      {asked?.what === 'folder' && (
        <NameDialog devboxId={devboxId} folder={folder} onNamed={setWanted} onClose={close} />
      )}
      {asked?.what === 'rename' && (
        <NameDialog devboxId={devboxId} folder={folder} name={asked.entry.name} onNamed={setWanted} onClose={close} />
      )}
      {asked?.what === 'delete' && (
        <DeleteDialog
          devboxId={devboxId}
          folder={folder}
          entries={asked.entries}
          onDeleted={() => {
            setSelection(emptySelection)
            setWanted(neighbourOf(asked.entries, rows))
          }}
          onClose={close}
        />
      )}
    </section>
  )
}

/** The entry that comes after these, or before them when they are the last. */
const neighbourOf = (entries: readonly FolderEntry[], rows: readonly FolderEntry[]): string => {
  const gone = new Set(entries.map(({ name }) => name))
  const last = rows.findLastIndex(({ name }) => gone.has(name))
  const stays = ({ name }: FolderEntry) => !gone.has(name)
  return (rows.slice(last + 1).find(stays) ?? rows.findLast(stays))?.name ?? ''
}

'use client'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { FolderClosed, FolderPlus } from 'lucide-react'
import { useMemo, useState } from 'react'
import { FileDropZone } from '#components/terminal/tools/file-drop-zone.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/browser/format.ts'
import { emptySelection, select } from '#lib/browser/lists/selection.ts'
import { isUtf8, nameIn, nameWords, parentOf } from './file-path.ts'
import type { FilesPlace } from './files-place.ts'
import { type FolderChange, FolderDialog } from './folder-dialog.tsx'
import { type EntrySort, type FolderEntry, type FolderListing, maxListed, sortEntries } from './folder-listing.ts'
import { FolderTable } from './folder-table.tsx'
import { type FolderRefusals, FolderTools } from './folder-tools.tsx'
import { PathBar } from './path-bar.tsx'
import { fileQueries } from './queries.ts'
import { useFolderDownload } from './use-folder-download.tsx'
import { useFocusAfter, useFolderFocus, useFolderKeys } from './use-folder-keys.ts'

/** What is in a folder, and what can be done with it. Backspace goes up, Delete deletes, F2 renames. */
export const FolderView = ({ place, path }: { place: FilesPlace; path: string }) => {
  const { devboxId, refusal } = place
  const listing = useQuery({ ...fileQueries.folder(devboxId, path), enabled: refusal === null })
  const { data } = listing
  const folder = data?.folder ?? path
  const [sort, setSort] = useState<EntrySort>({ column: 'name', descending: false })
  const [selection, setSelection] = useState(emptySelection)
  const [asked, setAsked] = useState<FolderChange>()
  const [wanted, setWanted] = useState<string>()
  const [element, setElement] = useState<HTMLElement | null>(null)
  const downloads = useFolderDownload(devboxId, folder)
  const rows = useMemo(() => sortEntries(data?.entries ?? [], sort), [data, sort])
  const selected = rows.filter(({ name }) => selection.selected.has(name))
  const goUp =
    folder.startsWith('/') && folder !== '/' ? () => place.go(parentOf(folder), { focused: nameIn(folder) }) : undefined

  useFolderKeys((key, name) => {
    const entry = rows.find((each) => each.name === name)
    const chosen = selected.length > 0 ? selected : entry ? [entry] : []
    if (key === 'Backspace') goUp?.()
    else if (data === undefined || refusal !== null) return false
    else if (key === 'Delete' && chosen.length > 0) setAsked({ what: 'delete', entries: chosen })
    else if (key === 'F2' && entry) setAsked({ what: 'rename', entry })
    else return false
    return true
  })
  useFolderFocus(element, place, data !== undefined)
  useFocusAfter(element, asked === undefined ? wanted : undefined, setWanted)

  const refusals = refusalsOf({ refusal, isRead: data !== undefined, folder, saving: downloads.saving })
  const readAgain = () => void listing.refetch()
  return (
    <section ref={setElement} aria-label="Files" className="relative min-h-72 space-y-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <PathBar place={place} folder={folder} />
        <FolderTools
          selected={selected}
          downloads={downloads}
          refusals={refusals}
          isReading={listing.isFetching}
          onRead={readAgain}
          onAsk={setAsked}
        />
      </div>
      <FolderNotes listing={listing} shown={rows.length} selected={selected.length} saving={downloads.saving} />
      {rows.length === 0 ? (
        <NoEntries listing={listing} refusal={refusal} goUp={goUp} />
      ) : (
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
          off={refusals.change}
          offSaving={refusals.download}
          onDownload={(entry) => downloads.download([entry])}
          onRename={(entry) => setAsked({ what: 'rename', entry })}
          onDelete={(entry) => setAsked({ what: 'delete', entries: [entry] })}
        />
      )}
      {element && refusals.upload === null && (
        <FileDropZone
          element={element}
          folderNow={() => nameWords(folder)}
          onFiles={(files) => setAsked({ what: 'upload', files })}
        />
      )}
      {asked && (
        <FolderDialog
          asked={asked}
          devboxId={devboxId}
          folder={folder}
          onUploaded={readAgain}
          onNamed={setWanted}
          onDeleted={(entries) => {
            setSelection(emptySelection)
            setWanted(neighbourOf(entries, rows))
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
    </section>
  )
}

interface FolderState {
  refusal: string | null
  isRead: boolean
  folder: string
  saving: string | undefined
}

const refusalsOf = ({ refusal, isRead, folder, saving }: FolderState): FolderRefusals => {
  const change = refusal ?? (isRead ? null : 'the folder has not been read')
  return {
    read: refusal,
    change,
    upload: change ?? (isUtf8(folder) ? null : 'the name of the folder is not UTF-8: rename it first'),
    download: change ?? (saving === undefined ? null : 'something is being downloaded already'),
  }
}

type Listing = UseQueryResult<FolderListing>

interface FolderNotesProps {
  listing: Listing
  shown: number
  selected: number
  saving: string | undefined
}

/** How much of the folder is shown and selected, how old that is, and what is missing. */
const FolderNotes = ({ listing: { data, error, dataUpdatedAt }, shown, selected, saving }: FolderNotesProps) =>
  data && (
    <>
      <p role="status" className="tabular flex flex-wrap gap-x-3 text-sm text-muted">
        <span>
          {formatCount(shown)} of {formatCount(data.total)} shown
          {selected > 0 && `, ${formatCount(selected)} selected`}
        </span>
        <RelativeTime prefix="read" ms={dataUpdatedAt} />
        {saving !== undefined && (
          <span>
            Downloading <VisibleText max={60}>{saving}</VisibleText>
          </span>
        )}
      </p>
      {shown < data.total && (
        <Banner tone="attention" title={`${formatCount(data.total - shown)} more are not listed`}>
          At most {formatCount(maxListed)} entries are, folders first and in the order of their names; the columns sort
          these. Use the terminal for the others.
        </Banner>
      )}
      {error && (
        <Banner tone="danger" role="alert" title="The folder could not be read again">
          <VisibleText max={300}>{problemOf(error).message}</VisibleText>
        </Banner>
      )}
    </>
  )

interface NoEntriesProps {
  listing: Listing
  refusal: string | null
  goUp: (() => void) | undefined
}

/** What stands in place of the table while there is nothing to list. */
const NoEntries = ({ listing, refusal, goUp }: NoEntriesProps) => {
  if (listing.data)
    return (
      <EmptyState icon={FolderPlus} title="This folder is empty">
        Drop files here to upload them.
      </EmptyState>
    )
  if (refusal !== null)
    return (
      <EmptyState icon={FolderClosed} title="This folder was not read before">
        {refusal}.
      </EmptyState>
    )
  if (!listing.error) return <SkeletonRows columns={4} label="Reading the folder" />
  return (
    <ErrorState
      title="The folder could not be read"
      error={listing.error}
      query={listing}
      action={goUp && <Button onClick={goUp}>Open the folder above</Button>}
    />
  )
}

/** The entry that comes after these, or before them when they are the last. */
const neighbourOf = (entries: readonly FolderEntry[], rows: readonly FolderEntry[]): string => {
  const gone = new Set(entries.map(({ name }) => name))
  const last = rows.findLastIndex(({ name }) => gone.has(name))
  const stays = ({ name }: FolderEntry) => !gone.has(name)
  return (rows.slice(last + 1).find(stays) ?? rows.findLast(stays))?.name ?? ''
}

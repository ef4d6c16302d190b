'use client'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { FolderClosed, FolderPlus, Play } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import * as z from 'zod/mini'
import { useDevbox } from '#components/devboxes/detail.tsx'
import { emptySelection } from '#components/list/column.ts'
import { useAddress } from '#components/list/use-address.ts'
import { FileDropZone } from '#components/terminal/tools/file-drop-zone.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { hasLetterKeys } from '#components/ui/choice/browser-choice.ts'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { isTyping } from '#components/ui/is-typing.ts'
import { problemOf } from '#components/ui/problem.ts'
import { useRefusal } from '#components/ui/refusals.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { SkeletonRows } from '#components/ui/skeleton.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { decodePath, displayName, encodePath } from '#lib/browser/address/encode-path.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { toServiceTime } from '#lib/client/clock.ts'
import { queryInt } from '#lib/contract/common.ts'
import { devboxRefusal, resumeRefusal } from '#lib/contract/devboxes.ts'
import { byName, type EntrySort } from '#lib/protocol/list-folder.ts'
import { baseName, isUtf8, parentPath } from './file-path.ts'
import { FileView } from './file-view.tsx'
import type { FilesNav } from './files-nav.ts'
import { type FolderEntry, sortEntries } from './folder-listing.ts'
import { FolderTable } from './folder-table.tsx'
import { type FolderChange, type FolderRefusals, FolderTools, useFolderDownload } from './folder-tools.tsx'
import { FolderTree } from './folder-tree.tsx'
import { PathBar } from './path-bar.tsx'
import { fileQueries } from './queries.ts'

/** `file` is a name in the folder `path`; the default is the home folder. */
const FilesSearchParams = z.object({
  path: z._default(z.string(), ''),
  file: z._default(z.string(), ''),
  line: z.optional(queryInt(1, 1_000_000_000)),
  find: z._default(z.enum(['', 'names', 'contents']), ''),
})

export const FilesTab = () => {
  const { devbox, actions } = useDevbox()
  const { id, status } = devbox
  const address = useCallback(
    ({ path, file, line, find }: Partial<z.infer<typeof FilesSearchParams>>) =>
      paths.devbox(id, 'files', { path: path || undefined, file: file || undefined, line, find: find || undefined }),
    [id],
  )
  const { settled, change, followHere } = useAddress({ schema: FilesSearchParams, path: address })
  const [folder, file] = [decodePath(settled.path), decodePath(settled.file)]
  const focused = useRef<string>(undefined)
  const refusal = devboxRefusal('use_files', status)
  // Stays open while the devbox is suspended, since there may be unsaved edits.
  const [hasRun, setHasRun] = useState(refusal === null)
  if (refusal === null && !hasRun) setHasRun(true)

  const resume = resumeRefusal(devbox) === null && (
    <Button icon={Play} needs="devboxes.resume" busy={actions.busyId === id} onClick={() => actions.resume(devbox)}>
      Resume devbox
    </Button>
  )
  if (!hasRun)
    return (
      <EmptyState icon={FolderClosed} title="Files unavailable" action={resume || undefined}>
        {refusal}. The devbox must be running to read and write files.
      </EmptyState>
    )
  const nav: FilesNav = {
    devboxId: id,
    refusal,
    hrefOf: (path, name, line) =>
      paths.devbox(id, 'files', { path: encodePath(path), file: name && encodePath(name), line }),
    go: (path, options = {}) => {
      focused.current = options.focused ?? ''
      const next = {
        path: encodePath(path),
        file: encodePath(options.file ?? ''),
        line: undefined,
        find: options.find ?? ('' as const),
      }
      change(next, options.replace ? 'replace' : 'push')
    },
    takeFocused: () => {
      const { current } = focused
      focused.current = undefined
      return current
    },
  }
  const view =
    file !== '' ? (
      <FileView
        key={`${folder}\0${file}\0${settled.line}`}
        nav={nav}
        folder={folder || '~'}
        name={file}
        line={settled.line}
      />
    ) : settled.find !== '' ? (
      <SearchView key={folder} nav={nav} folder={folder || '~'} kind={settled.find} />
    ) : (
      <FolderView key={folder} nav={nav} path={folder || '~'} />
    )
  return (
    <div
      className="space-y-3"
      onClickCapture={(event) => {
        // A link followed by keyboard moves the focus into the opened folder.
        if (event.detail === 0) focused.current = ''
        followHere(event)
      }}
    >
      {refusal !== null && (
        <Banner tone="attention" role="status" title={refusal} actions={resume || undefined}>
          Showing the last loaded contents.
        </Banner>
      )}
      <div className="flex items-start gap-4">
        <FolderTree nav={nav} folder={folder || '~'} file={file} />
        <div className="min-w-0 flex-1">{view}</div>
      </div>
    </div>
  )
}

const SearchView = dynamic(async () => (await import('./search-view.tsx')).SearchView)
const UploadDialog = dynamic(async () => (await import('#components/terminal/tools/upload-dialog.tsx')).UploadDialog)
const NameDialog = dynamic(async () => (await import('./folder-dialogs.tsx')).NameDialog)
const DeleteDialog = dynamic(async () => (await import('./folder-dialogs.tsx')).DeleteDialog)

/** Lists a folder. Backspace goes up, Delete deletes, F2 renames. */
const FolderView = ({ nav, path }: { nav: FilesNav; path: string }) => {
  const { devboxId, refusal } = nav
  const [sort, setSort] = useState<EntrySort>(byName)
  const listing = useFolder(nav, path, sort)
  const { data } = listing
  const folder = data?.folder ?? path
  const [selection, setSelection] = useState(emptySelection)
  const [change, setChange] = useState<FolderChange>()
  const [focusNext, setFocusNext] = useState<string>()
  const [element, setElement] = useState<HTMLElement | null>(null)
  const downloads = useFolderDownload(devboxId, folder)
  const rows = useMemo(() => (data?.isPaged ? data.entries : sortEntries(data?.entries ?? [], sort)), [data, sort])
  const selected = rows.filter(({ name }) => Object.hasOwn(selection, name))
  const goUp =
    folder.startsWith('/') && folder !== '/'
      ? () => nav.go(parentPath(folder), { focused: baseName(folder) })
      : undefined

  // The API has no calls for changes and searches: the console runs commands for them.
  const notAllowed = useRefusal('executions.executeSync')
  const isLoaded = data !== undefined
  const refusals = refusalsOf({ refusal, notAllowed, isLoaded, folder, downloading: downloads.downloading })
  const startSearch = () => nav.go(path, { find: 'names' })
  useFolderKeys((key, name) => {
    const entry = rows.find((each) => each.name === name)
    const targets = selected.length > 0 ? selected : entry ? [entry] : []
    if (key === 'Backspace') goUp?.()
    else if (key === '/' && hasLetterKeys() && refusals.search === null) startSearch()
    else if (refusals.change !== null) return false
    else if (key === 'Delete' && targets.length > 0) setChange({ action: 'delete', entries: targets })
    else if (key === 'F2' && entry) setChange({ action: 'rename', entry })
    else return false
    return true
  })
  useFolderFocus(element, nav, data !== undefined)
  const clearFocusNext = useCallback(() => setFocusNext(undefined), [])
  useFocusAfter(element, change === undefined ? focusNext : undefined, clearFocusNext)

  const reload = () => listing.reload()
  const dialog = { devboxId, folder, onClose: () => setChange(undefined) }
  return (
    <section ref={setElement} aria-label="Files" className="relative min-h-72 space-y-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <PathBar nav={nav} folder={folder} />
        <FolderTools
          devboxId={devboxId}
          folder={folder}
          onSearch={startSearch}
          selected={selected}
          downloads={downloads}
          refusals={refusals}
          isLoading={listing.isReloading}
          onReload={reload}
          onChange={setChange}
        />
      </div>
      <FolderStatus
        listing={listing}
        shown={rows.length}
        selected={selected.length}
        downloading={downloads.downloading}
      />
      {rows.length === 0 ? (
        <NoEntries listing={listing} refusal={refusal} canUpload={refusals.upload === null} goUp={goUp} />
      ) : (
        <FolderTable
          nav={nav}
          folder={folder}
          rows={rows}
          sort={sort}
          onSort={setSort}
          busy={listing.isFetching && !listing.isFetchedAfterMount}
          total={data?.total ?? rows.length}
          onNearEnd={listing.loadMore}
          selection={{ selected: selection, onChange: setSelection }}
          changeRefusal={refusals.change}
          downloadRefusal={refusals.download}
          onDownload={(entry) => downloads.download([entry])}
          onRename={(entry) => setChange({ action: 'rename', entry })}
          onDelete={(entry) => setChange({ action: 'delete', entries: [entry] })}
        />
      )}
      {element && refusals.upload === null && (
        <FileDropZone
          element={element}
          folderNow={() => displayName(folder)}
          onFiles={(files) => setChange({ action: 'upload', files })}
        />
      )}
      {change?.action === 'upload' && (
        <UploadDialog {...dialog} files={change.files} hint="Defaults to the current folder" onSent={reload} />
      )}
      {change?.action === 'create' && <NameDialog {...dialog} onNamed={setFocusNext} />}
      {change?.action === 'rename' && <NameDialog {...dialog} name={change.entry.name} onNamed={setFocusNext} />}
      {change?.action === 'delete' && (
        <DeleteDialog
          {...dialog}
          entries={change.entries}
          onDeleted={() => {
            setSelection(emptySelection)
            setFocusNext(neighborOf(change.entries, rows))
          }}
        />
      )}
    </section>
  )
}

interface FolderState {
  refusal: string | null
  notAllowed: string | null
  isLoaded: boolean
  folder: string
  downloading: string | undefined
}

const refusalsOf = ({ refusal, notAllowed, isLoaded, folder, downloading }: FolderState): FolderRefusals => {
  const search = refusal ?? notAllowed
  const change = search ?? (isLoaded ? null : "the folder hasn't loaded")
  return {
    reload: refusal,
    search,
    change,
    upload: change ?? (isUtf8(folder) ? null : "the folder name isn't UTF-8; rename it first"),
    download: change ?? (downloading === undefined ? null : 'a download is in progress'),
  }
}

type Listing = ReturnType<typeof useFolder>

interface FolderStatusProps {
  listing: Listing
  shown: number
  selected: number
  downloading: string | undefined
}

const FolderStatus = ({ listing: { data, error, dataUpdatedAt }, shown, selected, downloading }: FolderStatusProps) =>
  data && (
    <>
      <p role="status" className="tabular flex flex-wrap gap-x-3 text-sm text-muted">
        <span>
          {data.total === 0
            ? 'No entries'
            : `${formatCount(shown)} of ${formatCountOf(data.total, 'entry', 'entries')} ${data.isPaged ? 'loaded' : 'shown'}`}
          {selected > 0 && `, ${formatCount(selected)} selected`}
        </span>
        <RelativeTime prefix="loaded" ms={toServiceTime(dataUpdatedAt)} />
        {data.isPaged && data.isOnlyByName && <span>Sorted by name only: this devbox has no GNU find and sort.</span>}
        {downloading !== undefined && (
          <span>
            Downloading <VisibleText max={60}>{downloading}</VisibleText>
          </span>
        )}
      </p>
      {error && (
        <Banner tone="danger" role="alert" title="Couldn't reload the folder">
          <VisibleText max={300}>{problemOf(error).message}</VisibleText>
        </Banner>
      )}
    </>
  )

interface NoEntriesProps {
  listing: Listing
  refusal: string | null
  canUpload: boolean
  goUp: (() => void) | undefined
}

const NoEntries = ({ listing, refusal, canUpload, goUp }: NoEntriesProps) => {
  if (listing.data)
    return (
      <EmptyState icon={FolderPlus} title="This folder is empty">
        {canUpload && 'Drop files here to upload them.'}
      </EmptyState>
    )
  if (refusal !== null)
    return (
      <EmptyState icon={FolderClosed} title="This folder hasn't been loaded">
        {refusal}.
      </EmptyState>
    )
  if (!listing.error) return <SkeletonRows columns={4} label="Loading folder" />
  return (
    <ErrorState
      title="Couldn't load the folder"
      error={listing.error}
      query={listing.query}
      action={goUp && <Button onClick={goUp}>Open parent folder</Button>}
    />
  )
}

/** How often the folder in view is listed again. */
const refreshMs = 10_000
/** Polling would keep an idle devbox awake, so it ends when the page isn't used. */
const usedMs = 60_000
/** Larger folders are reloaded by hand. */
const maxRefreshed = 2_000

/** Lists a folder: whole and sorted here, or if it is large, in parts that the devbox sorts. */
const useFolder = ({ devboxId, refusal }: FilesNav, path: string, sort: EntrySort) => {
  const queryClient = useQueryClient()
  const isUsed = useIsUsed(usedMs)
  const [isReloading, setIsReloading] = useState(false)
  const enabled = refusal === null
  const first = useInfiniteQuery({
    ...fileQueries.folder(devboxId, path),
    enabled,
    refetchOnWindowFocus: ({ state }) => (state.data?.pages[0]?.total ?? 0) <= maxRefreshed,
    refetchInterval: ({ state }) =>
      state.status === 'success' && (state.data?.pages[0]?.total ?? 0) <= maxRefreshed && isUsed() ? refreshMs : false,
  })
  const isPaged = first.hasNextPage || (first.data?.pages.length ?? 0) > 1
  const isByName = sort.column === 'name' && !sort.descending
  const sorted = useInfiniteQuery({
    ...fileQueries.folder(devboxId, path, sort),
    enabled: enabled && isPaged && !isByName,
  })
  const query = isPaged && !isByName ? sorted : first
  const { data: parts } = query
  const data = useMemo(() => {
    const [start] = parts?.pages ?? []
    if (!parts || !start) return undefined
    // Entries that move between two parts while the folder changes would come twice.
    const byEntryName = new Map(parts.pages.flatMap(({ entries }) => entries).map((entry) => [entry.name, entry]))
    return { ...start, entries: [...byEntryName.values()], total: parts.pages.at(-1)?.total ?? start.total, isPaged }
  }, [parts, isPaged])
  return {
    query,
    data,
    error: query.error,
    dataUpdatedAt: query.dataUpdatedAt,
    isFetching: query.isFetching,
    isReloading,
    isFetchedAfterMount: query.isFetchedAfterMount,
    loadMore: () => {
      if (query.hasNextPage && !query.isFetching && !query.isFetchNextPageError) void query.fetchNextPage()
    },
    reload: () => {
      // Only the first part: the others load again as they come into view.
      const { queryKey } = fileQueries.folder(devboxId, path, query === first ? undefined : sort)
      queryClient.setQueryData(
        queryKey,
        (before) => before && { pages: before.pages.slice(0, 1), pageParams: before.pageParams.slice(0, 1) },
      )
      setIsReloading(true)
      void query.refetch().finally(() => setIsReloading(false))
    },
  }
}

/** Returns whether a key or the pointer was used lately. */
const useIsUsed = (lastMs: number): (() => boolean) => {
  const atMs = useRef(0)
  useEffect(() => {
    const listening = new AbortController()
    const use = () => {
      atMs.current = performance.now()
    }
    use()
    for (const kind of ['keydown', 'pointerdown', 'pointermove', 'wheel'] as const)
      document.addEventListener(kind, use, { passive: true, signal: listening.signal })
    return () => listening.abort()
  }, [])
  return () => performance.now() - atMs.current < lastMs
}

/** The entry after the deleted ones, or the one before if they were the last. */
const neighborOf = (deleted: readonly FolderEntry[], rows: readonly FolderEntry[]): string => {
  const names = new Set(deleted.map(({ name }) => name))
  const last = rows.findLastIndex(({ name }) => names.has(name))
  const remains = ({ name }: FolderEntry) => !names.has(name)
  return (rows.slice(last + 1).find(remains) ?? rows.findLast(remains))?.name ?? ''
}

/** Handles keys outside of fields, dialogs and menus. `name` is the focused row. */
const useFolderKeys = (onKey: (key: string, name: string | undefined) => boolean) => {
  const latest = useRef(onKey)
  useEffect(() => {
    latest.current = onKey
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const { activeElement } = document
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
      if (isTyping(activeElement) || document.querySelector('[role=dialog],[role=menu]')) return
      const name = activeElement?.closest('tr')?.getAttribute('data-key') ?? undefined
      if (latest.current(event.key, name)) event.preventDefault()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

/** After loading, focuses the entry the user came from, or the first. */
const useFolderFocus = (element: HTMLElement | null, nav: FilesNav, isLoaded: boolean) => {
  const latest = useRef(nav)
  useEffect(() => {
    latest.current = nav
  })
  useEffect(() => {
    if (!element || !isLoaded) return
    const name = latest.current.takeFocused()
    if (name !== undefined) focusRow(element, name)
  }, [element, isLoaded])
}

/** Focuses an entry once the dialog has closed. */
const useFocusAfter = (element: HTMLElement | null, name: string | undefined, onFocused: () => void) => {
  useEffect(() => {
    if (!element || name === undefined) return
    // The dialog restores the focus first.
    const timer = setTimeout(() => {
      focusRow(element, name)
      onFocused()
    })
    return () => clearTimeout(timer)
  }, [element, name, onFocused])
}

const focusRow = (element: HTMLElement, name: string) => {
  const rows = [...element.querySelectorAll<HTMLElement>('tr[data-key]')]
  const row = rows.find((each) => each.dataset.key === name) ?? rows[0]
  const target = row?.querySelector<HTMLElement>('[data-row]') ?? element.querySelector<HTMLElement>('nav a')
  target?.focus()
}

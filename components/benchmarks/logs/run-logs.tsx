'use client'
import { useQuery } from '@tanstack/react-query'
import { ChevronRight, FileText, FileX, Folder, RefreshCw } from 'lucide-react'
import { type KeyboardEvent, useDeferredValue, useMemo, useRef, useState } from 'react'
import { useAddress } from '#components/list/use-address.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { classes } from '#components/ui/classes.ts'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { Input } from '#components/ui/input.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatBytes, formatCount, formatCountOf } from '#lib/browser/format.ts'
import type { RunLogs as Logs, RunLogArchive, RunLogFile } from '#lib/protocol/run-logs.ts'
import { useIsRunActive } from '../run/run-layout.tsx'
import { RunLogsParams, runLogsPath } from '../run/search-params.ts'
import { BoxedNote, LogFileView } from './log-file-view.tsx'
import { runLogQueries } from './queries.ts'

type Address = ReturnType<typeof useAddress<RunLogsParams>>

export const RunLogs = ({ runId }: { runId: string }) => {
  const isActive = useIsRunActive(runId)
  const path = useMemo(() => runLogsPath(runId), [runId])
  const { view, change, followHere } = useAddress({ schema: RunLogsParams, path })
  const [isFollowing, setIsFollowing] = useState(true)
  const [staleAtMs, setStaleAtMs] = useState(0)
  const list = useQuery(runLogQueries.list(runId, { isActive, isFollowed: isFollowing, staleAtMs }))
  const { archive = null, reading = null } = list.data ?? {}
  const refresh = () => setStaleAtMs(archive?.read_at_ms ?? 0)
  const [wasActive, setWasActive] = useState(isActive)
  if (wasActive !== isActive) {
    setWasActive(isActive)
    // An archive read while the run was active lacks its last output.
    if (!isActive) refresh()
  }
  if (list.error && !archive)
    return <ErrorState title="Couldn't open the log archive" error={list.error} query={list} />
  if (!archive)
    return (
      <div className="mt-4">
        <BoxedNote role="status">
          {reading ? `Reading the archive: ${progressText(reading)}` : 'Reading the archive…'}
        </BoxedNote>
      </div>
    )
  return (
    <section aria-label="Logs" className="mt-4 space-y-3">
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-2 text-sm text-muted">
        <p role="status" className="tabular">
          {reading ? `Refreshing the archive: ${progressText(reading)}` : sizeText(archive)}
        </p>
        <p>
          read <RelativeTime ms={archive.read_at_ms} />
        </p>
        {isActive && (
          <Button size="sm" variant="ghost" aria-pressed={isFollowing} onClick={() => setIsFollowing(!isFollowing)}>
            {isFollowing ? 'Stop following' : 'Follow run'}
          </Button>
        )}
        <Button
          size="sm"
          variant="ghost"
          icon={RefreshCw}
          busy={reading !== null || (staleAtMs > 0 && archive.read_at_ms <= staleAtMs && !list.error)}
          onClick={() => {
            refresh()
            void list.refetch()
          }}
        >
          Refresh
        </Button>
      </div>
      {list.error && (
        <Banner tone="attention" role="alert" title="Couldn't refresh the archive">
          {problemOf(list.error).message}. Showing the previous version.
        </Banner>
      )}
      <SkippedEntries archive={archive} />
      {archive.files.length === 0 ? (
        <EmptyState icon={FileText} title="The archive is empty">
          It contains no files that can be shown.
        </EmptyState>
      ) : (
        <div className="grid items-start gap-4 lg:grid-cols-[20rem_minmax(0,1fr)]">
          <Files archive={archive} view={view} change={change} />
          {view.file === undefined ? (
            <BoxedNote>Select a file to open it.</BoxedNote>
          ) : (
            <LogFileView
              key={view.file}
              runId={runId}
              isActive={isActive}
              view={view}
              change={change}
              followHere={followHere}
              path={view.file}
              file={archive.files.find(({ path }) => path === view.file)}
              hrefOf={(line) => path({ ...view, line })}
              onChanged={() => void list.refetch()}
              onClose={() => change({ file: undefined, line: undefined }, 'push')}
            />
          )}
        </div>
      )}
    </section>
  )
}

const progressText = ({ received_bytes, total_bytes }: NonNullable<Logs['reading']>): string =>
  total_bytes === null
    ? `${formatBytes(received_bytes)} received`
    : `${formatBytes(received_bytes)} of ${formatBytes(total_bytes)}`

const sizeText = ({ files, size_bytes }: RunLogArchive): string => {
  const unpacked = files.reduce((sum, file) => sum + file.size_bytes, 0)
  return `${formatCountOf(files.length, 'file')}, ${formatBytes(unpacked)}; archive ${formatBytes(size_bytes)}`
}

const SkippedEntries = ({ archive: { left_out } }: { archive: RunLogArchive }) => {
  if (left_out.count === 0) return null
  return (
    <details className="rounded-md border border-attention-line bg-attention-bg px-3 py-2 text-sm">
      <summary className="cursor-pointer text-attention">
        {formatCountOf(left_out.count, 'entry', 'entries')} can't be shown
      </summary>
      <ul className="mt-2 max-h-48 space-y-0.5 overflow-y-auto">
        {left_out.first.map(({ name, reason }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: names may repeat
          <li key={index}>
            <code className="font-mono">
              <VisibleText max={200}>{name === '' ? '(no name)' : name}</VisibleText>
            </code>
            : {reason}
          </li>
        ))}
      </ul>
    </details>
  )
}

const Files = ({ archive, view, change }: Pick<Address, 'view' | 'change'> & { archive: RunLogArchive }) => {
  const filter = useDeferredValue(view.files ?? '')
  const tree = useMemo(() => logTree(archive.files, filter), [archive.files, filter])
  return (
    <div className="min-w-0 space-y-2">
      <Input
        type="search"
        aria-label="Filter files"
        placeholder="Filter files"
        value={view.files ?? ''}
        onChange={({ target }) => change({ files: target.value || undefined }, 'type')}
      />
      {tree.isFiltered && (
        <p role="status" className="tabular text-sm text-muted">
          {formatCount(tree.count)} of {formatCount(archive.files.length)} files
        </p>
      )}
      {tree.count > 0 && (
        <FileTree tree={tree} selected={view.file} onSelect={(file) => change({ file, line: undefined }, 'push')} />
      )}
    </div>
  )
}

interface FileTreeProps {
  tree: LogTree
  selected: string | undefined
  onSelect: (path: string) => void
}

const maxExpanded = 60
const maxRows = 1_000

const FileTree = ({ tree, selected, onSelect }: FileTreeProps) => {
  const box = useRef<HTMLDivElement>(null)
  const [opened, setOpened] = useState<ReadonlySet<string>>(() => initiallyOpen(tree, selected))
  const [active, setActive] = useState(selected)
  const rows = useMemo(() => treeRows(tree, opened), [tree, opened])
  const shown = rows.slice(0, maxRows)
  const activeIndex = Math.max(
    0,
    shown.findIndex(({ path }) => path === active),
  )
  const toggle = (path: string, isOpen: boolean) => {
    setOpened(new Set(isOpen ? [...opened, path] : [...opened].filter((each) => each !== path)))
  }
  const choose = (row: TreeRow) => {
    setActive(row.path)
    if (row.kind === 'file') onSelect(row.path)
    else toggle(row.path, !row.isOpen)
  }
  const moveTo = (index: number) => {
    const row = shown[index]
    if (!row) return
    setActive(row.path)
    box.current?.querySelector<HTMLElement>(`[data-row="${index}"]`)?.focus()
  }
  const listen = (event: KeyboardEvent) => {
    const row = shown[activeIndex]
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return
    const parent = foldersOf(row.path.replace(/\/$/, '')).at(-1)
    const isFolder = row.kind === 'folder'
    const steps: Record<string, () => void> = {
      ArrowDown: () => moveTo(activeIndex + 1),
      ArrowUp: () => moveTo(activeIndex - 1),
      Home: () => moveTo(0),
      End: () => moveTo(shown.length - 1),
      Enter: () => choose(row),
      ' ': () => choose(row),
      ArrowRight: () => isFolder && (row.isOpen ? moveTo(activeIndex + 1) : toggle(row.path, true)),
      ArrowLeft: () =>
        isFolder && row.isOpen && !tree.isFiltered
          ? toggle(row.path, false)
          : moveTo(shown.findIndex(({ path }) => path === parent)),
    }
    const step = steps[event.key]
    if (!step) return
    event.preventDefault()
    step()
  }
  return (
    <>
      <div
        ref={box}
        role="tree"
        aria-label="Files of the archive"
        onKeyDown={listen}
        className="max-h-64 overflow-y-auto rounded-md border border-line py-1 text-sm lg:max-h-[min(70dvh,48rem)]"
      >
        {shown.map((row, index) => (
          <Row
            key={row.path}
            row={row}
            index={index}
            isActive={index === activeIndex}
            isSelected={row.path === selected}
            onChoose={choose}
            onFocus={setActive}
          />
        ))}
      </div>
      {rows.length > shown.length && (
        <p className="text-sm text-muted">
          Showing {formatCount(shown.length)} of {formatCount(rows.length)} rows. Filter to narrow the list.
        </p>
      )}
    </>
  )
}

const initiallyOpen = (tree: LogTree, selected: string | undefined): ReadonlySet<string> => {
  if (tree.count > maxExpanded) return new Set(selected === undefined ? [] : foldersOf(selected))
  return new Set(treeRows({ ...tree, isFiltered: true }, new Set()).map(({ path }) => path))
}

interface RowProps {
  row: TreeRow
  index: number
  isActive: boolean
  isSelected: boolean
  onChoose: (row: TreeRow) => void
  onFocus: (path: string) => void
}

const Row = ({ row, index, isActive, isSelected, onChoose, onFocus }: RowProps) => {
  const isFolder = row.kind === 'folder'
  const refusal = row.file?.refusal
  const Icon = isFolder ? Folder : refusal ? FileX : FileText
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys
    <div
      role="treeitem"
      data-row={index}
      aria-level={row.depth + 1}
      aria-expanded={isFolder ? row.isOpen : undefined}
      aria-selected={isSelected}
      tabIndex={isActive ? 0 : -1}
      title={refusal ? `${row.path} ${refusal}` : row.path}
      onClick={() => onChoose(row)}
      onFocus={() => onFocus(row.path)}
      style={{ paddingLeft: `${Math.min(row.depth, 8) * 0.875 + 0.5}rem` }}
      className={classes(
        'flex h-7 cursor-pointer items-center gap-1.5 pr-2 -outline-offset-2',
        isSelected ? 'bg-accent-soft font-medium' : 'hover:bg-surface-2',
      )}
    >
      {isFolder ? (
        <ChevronRight aria-hidden className={classes('size-3.5 shrink-0 text-muted', row.isOpen && 'rotate-90')} />
      ) : (
        <span className="w-3.5 shrink-0" />
      )}
      <Icon aria-hidden className="size-3.5 shrink-0 text-muted" />
      <span className="min-w-0 flex-1 truncate">
        <VisibleText max={200}>{withoutRunId(row.name)}</VisibleText>
      </span>
      <span className="tabular shrink-0 text-xs font-normal text-muted">
        {row.file ? (refusal ? 'Unreadable' : formatBytes(row.file.size_bytes)) : formatCount(row.count ?? 0)}
        {isFolder && <span className="sr-only">{row.count === 1 ? ' file' : ' files'}</span>}
      </span>
    </div>
  )
}

interface TreeRow {
  kind: 'folder' | 'file'
  /** Folders end with `/`. */
  path: string
  name: string
  depth: number
  file?: RunLogFile
  count?: number
  isOpen?: boolean
}

interface TreeFolder {
  folders: Map<string, TreeFolder>
  files: { name: string; file: RunLogFile }[]
  count: number
}

const emptyFolder = (): TreeFolder => ({ folders: new Map(), files: [], count: 0 })

interface LogTree {
  root: TreeFolder
  count: number
  isFiltered: boolean
}

/** Keeps files whose path contains every word of the filter. */
export const logTree = (files: readonly RunLogFile[], filter: string): LogTree => {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  const root = emptyFolder()
  let count = 0
  for (const file of files) {
    const path = file.path.toLowerCase()
    if (!words.every((word) => path.includes(word))) continue
    count++
    const parts = file.path.split('/')
    const name = parts.pop() ?? ''
    let folder = root
    for (const part of parts) {
      const next = folder.folders.get(part) ?? emptyFolder()
      folder.folders.set(part, next)
      folder = next
      folder.count++
    }
    folder.files.push({ name, file })
  }
  return { root, count, isFiltered: words.length > 0 }
}

export const treeRows = ({ root, isFiltered }: LogTree, opened: ReadonlySet<string>): TreeRow[] => {
  const rows: TreeRow[] = []
  const add = (folder: TreeFolder, above: string, depth: number) => {
    for (const [name, below] of [...folder.folders].sort(([a], [b]) => byName(a, b))) {
      const path = `${above}${name}/`
      const isOpen = isFiltered || opened.has(path)
      rows.push({ kind: 'folder', path, name, depth, count: below.count, isOpen })
      if (isOpen) add(below, path, depth + 1)
    }
    for (const { name, file } of folder.files.toSorted((a, b) => byName(a.name, b.name)))
      rows.push({ kind: 'file', path: file.path, name, depth, file })
  }
  add(root, '', 0)
  return rows
}

const collator = new Intl.Collator('en', { numeric: true })
const id = /^[0-9a-f-]{16,}$/
/** Ids sort by character, which is by time; other names sort naturally. */
const byName = (a: string, b: string) => (id.test(a) && id.test(b) ? (a < b ? -1 : 1) : collator.compare(a, b))

export const foldersOf = (path: string): string[] =>
  [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1))

export const withoutRunId = (name: string): string => name.replace(/^[a-z]{2,6}_[A-Za-z0-9]{8,}_(?=.)/, '')

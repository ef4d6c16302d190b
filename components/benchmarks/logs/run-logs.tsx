'use client'
import { useQuery } from '@tanstack/react-query'
import { FileText, RefreshCw } from 'lucide-react'
import { useDeferredValue, useMemo, useState } from 'react'
import { useAddress } from '#components/list/use-address.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { Input } from '#components/ui/input.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatBytes, formatCount, formatCountOf } from '#lib/browser/format.ts'
import type { RunLogs as Logs, RunLogArchive } from '#lib/protocol/run-logs.ts'
import { useIsRunActive } from '../run/run-layout.tsx'
import { RunLogsParams, runLogsPath } from '../run/search-params.ts'
import { FileTree, logTree } from './file-tree.tsx'
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
    return <ErrorState title="Could not open the log archive" error={list.error} query={list} />
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
        <Banner tone="attention" role="alert" title="Could not refresh the archive">
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

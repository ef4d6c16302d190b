'use client'
import { useQuery } from '@tanstack/react-query'
import { FileText, RefreshCw } from 'lucide-react'
import { type MouseEvent, useDeferredValue, useMemo, useState } from 'react'
import type { HowToChange } from '#components/list/use-address.ts'
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
import type { RunView } from '../run/search-params.ts'
import { FileTree } from './file-tree.tsx'
import { LogFileView } from './log-file-view.tsx'
import { logTree } from './log-tree.ts'
import { runLogQueries } from './queries.ts'

export interface RunLogsProps {
  runId: string
  goesOn: boolean
  view: RunView
  path: (view: Partial<RunView>) => string
  change: (part: Partial<RunView>, how: HowToChange) => void
  followHere: (event: MouseEvent) => void
}

/** The files of a run's log archive, opened one by one; while the run goes on, read anew again and again. */
export const RunLogs = (props: RunLogsProps) => {
  const { runId, goesOn, view, change } = props
  const [isFollowing, setIsFollowing] = useState(true)
  /** An archive that was not read after this is an old one. */
  const [staleAtMs, setStaleAtMs] = useState(0)
  const list = useQuery(runLogQueries.list(runId, { isGoingOn: goesOn, isFollowed: isFollowing, staleAtMs }))
  const { archive = null, reading = null } = list.data ?? {}
  const readAnew = () => setStaleAtMs(archive?.read_at_ms ?? 0)
  const [went, setWent] = useState(goesOn)
  if (went !== goesOn) {
    setWent(goesOn)
    // What a run wrote last is in no archive that was read while it went on.
    if (!goesOn) readAnew()
  }
  if (list.error && !archive)
    return <ErrorState title="The log archive could not be opened" error={list.error} query={list} />
  if (!archive) return <Reading reading={reading} />
  return (
    <section aria-label="Logs" className="mt-4 space-y-3">
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-2 text-sm text-muted">
        <p role="status" className="tabular">
          {reading ? `Reading the archive anew: ${readWords(reading)}` : sizeWords(archive)}
        </p>
        <p>
          read <RelativeTime ms={archive.read_at_ms} />
        </p>
        {goesOn && (
          <Button size="sm" variant="ghost" aria-pressed={isFollowing} onClick={() => setIsFollowing(!isFollowing)}>
            {isFollowing ? 'Stop following the run' : 'Follow the run'}
          </Button>
        )}
        <Button
          size="sm"
          variant="ghost"
          icon={RefreshCw}
          busy={reading !== null || (staleAtMs > 0 && archive.read_at_ms <= staleAtMs && !list.error)}
          onClick={() => {
            readAnew()
            void list.refetch()
          }}
        >
          Read anew
        </Button>
      </div>
      {list.error && (
        <Banner tone="attention" role="alert" title="The archive could not be read anew">
          {problemOf(list.error).message}. What is shown is what was read before.
        </Banner>
      )}
      <LeftOut archive={archive} />
      {archive.files.length === 0 ? (
        <EmptyState icon={FileText} title="The archive holds no files">
          The service made an archive of the logs of this run with nothing in it that can be shown.
        </EmptyState>
      ) : (
        <div className="grid items-start gap-4 lg:grid-cols-[20rem_minmax(0,1fr)]">
          <Files {...props} archive={archive} />
          {view.file === undefined ? (
            <p className="rounded-md border border-line px-3 py-10 text-center text-muted">
              Choose a file; each is read alone, the archive is not downloaded.
            </p>
          ) : (
            <LogFileView
              key={view.file}
              {...props}
              path={view.file}
              file={archive.files.find(({ path }) => path === view.file)}
              hrefOf={(line) => props.path({ ...view, line })}
              onGone={() => void list.refetch()}
              onClose={() => change({ file: undefined, line: undefined, tab: 'logs' }, 'push')}
            />
          )}
        </div>
      )}
    </section>
  )
}

const readWords = ({ received_bytes, total_bytes }: NonNullable<Logs['reading']>): string =>
  total_bytes === null
    ? `${formatBytes(received_bytes)} so far, the whole size is not known`
    : `${formatBytes(received_bytes)} of ${formatBytes(total_bytes)}`

const sizeWords = ({ files, size_bytes }: RunLogArchive): string => {
  const unpacked = files.reduce((sum, file) => sum + file.size_bytes, 0)
  return `${formatCountOf(files.length, 'file')}, ${formatBytes(unpacked)}; the archive has ${formatBytes(size_bytes)}`
}

const Reading = ({ reading }: { reading: Logs['reading'] }) => (
  <p role="status" className="tabular mt-4 rounded-md border border-line px-3 py-10 text-center text-muted">
    {reading ? `The console reads the archive: ${readWords(reading)}` : 'The console reads the archive …'}
  </p>
)

const LeftOut = ({ archive: { left_out } }: { archive: RunLogArchive }) => {
  if (left_out.count === 0) return null
  return (
    <details className="rounded-md border border-attention-line bg-attention-bg px-3 py-2 text-sm">
      <summary className="cursor-pointer text-attention">
        {formatCountOf(left_out.count, 'entry', 'entries')} of the archive cannot be shown
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

const Files = ({ archive, view, change }: RunLogsProps & { archive: RunLogArchive }) => {
  const filter = useDeferredValue(view.files ?? '')
  const tree = useMemo(() => logTree(archive.files, filter), [archive.files, filter])
  return (
    <div className="min-w-0 space-y-2">
      <Input
        type="search"
        aria-label="Filter files"
        placeholder="Filter files"
        value={view.files ?? ''}
        onChange={({ target }) => change({ files: target.value || undefined, tab: 'logs' }, 'type')}
      />
      {tree.isFiltered && (
        <p role="status" className="tabular text-sm text-muted">
          {formatCount(tree.count)} of {formatCount(archive.files.length)} files
        </p>
      )}
      {tree.count > 0 && (
        <FileTree
          tree={tree}
          selected={view.file}
          onSelect={(file) => change({ file, line: undefined, tab: 'logs' }, 'push')}
        />
      )}
    </div>
  )
}

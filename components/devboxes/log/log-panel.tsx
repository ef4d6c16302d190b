'use client'
import { useQuery } from '@tanstack/react-query'
import { Download, Search, SlidersHorizontal, SquareTerminal, X } from 'lucide-react'
import { memo, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { devboxQueries } from '#components/devboxes/queries.ts'
import { type HowToChange, useAddress } from '#components/list/use-address.ts'
import { useTerminalRequest } from '#components/terminal/workspace/use-terminal-layout.ts'
import { Button } from '#components/ui/button.tsx'
import { Check } from '#components/ui/choice/check.tsx'
import { classes } from '#components/ui/classes.ts'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { FollowedLog } from '#components/ui/followed-log.tsx'
import { Input } from '#components/ui/input.tsx'
import { Popover } from '#components/ui/popover.tsx'
import { useRefusal } from '#components/ui/refusals.ts'
import { Select } from '#components/ui/select.tsx'
import { shortenMiddle } from '#components/ui/text.ts'
import { formatExact, formatTimeOfDay } from '#components/ui/time-text.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount, isoTime } from '#lib/browser/format.ts'
import { saveText } from '#lib/browser/lists/export.ts'
import { resourcesOf } from '#lib/contract/launch-parameters.ts'
import { logLevels, logSources } from '#lib/contract/logs.ts'
import { matchInWorker, tooSlow } from '#lib/terminal/page/match-in-worker.ts'
import { useDevbox } from '../detail.tsx'
import { samplesOf } from '../usage/resource-usage.ts'
import { UsageCharts } from '../usage/usage-charts.tsx'
import { devboxLog, logLine, type NumberedRecord } from './log-feed.ts'
import { filterRecords, LogSearchParams, logPath, searchPattern } from './search-params.ts'
import { StyledText } from './styled-text.tsx'
import { LogStatus, useDevboxLog } from './use-devbox-log.tsx'

export const LogPanel = () => {
  const devboxId = useDevbox().devbox.id
  const log = useDevboxLog(devboxId, devboxLog)
  const path = useMemo(() => logPath(devboxId), [devboxId])
  const { view, change, problems } = useAddress({ schema: LogSearchParams, path })
  const [wraps, setWraps] = useState(true)
  const { regex, search } = view
  const pattern = useMemo(() => searchPattern({ regex, search }), [regex, search])
  const matches = useMatches(log.records, pattern && 'pattern' in pattern ? pattern.pattern : null)
  // A pattern with a problem filters nothing.
  const problem = pattern && 'problem' in pattern ? pattern.problem : matches.problem
  const matching = problem === null ? matches.numbers : null
  const { shown, hiddenStats, hiddenFilesTab } = useMemo(
    () => filterRecords(log.records, view, matching ? ({ number }) => matching.has(number) : undefined),
    [log.records, view, matching],
  )
  const ask = useTerminalRequest(devboxId)
  const mayType = useRefusal('/api/terminals') === null
  const insertAtPrompt = useCallback((text: string) => ask('prompt', text), [ask])
  const text = () => shown.map(logLine).join('\n')
  const emptyReason = shown.length === 0 ? 'no records shown' : null
  return (
    <section aria-label="Log" className="space-y-2">
      <LogFilters records={log.records} view={view} change={change} problem={problem} />
      {problems.length > 0 && (
        <p role="alert" className="text-sm text-danger">
          The address has invalid filters, so none are applied:{' '}
          {problems.map(({ field, message }) => `${field} ${message}`).join('; ')}
        </p>
      )}
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-2 text-sm text-muted">
        <p role="status">
          <LogStatus log={log} />
        </p>
        <p className="tabular">
          {log.records.length === 0
            ? 'No records'
            : `${formatCount(shown.length)} of ${formatCount(log.records.length + log.dropped)} records`}
          {hiddenStats > 0 && ` · ${formatCount(hiddenStats)} statistics hidden`}
          {hiddenFilesTab > 0 && ` · ${formatCount(hiddenFilesTab)} from the Files tab hidden`}
          {log.dropped > 0 && ` · oldest ${formatCount(log.dropped)} unloaded`}
        </p>
        <span className="ml-auto inline-flex flex-wrap items-center gap-1">
          <Check label="Wrap lines" checked={wraps} onCheck={setWraps} />
          <CopyButton what="log" text={text} disabledReason={emptyReason} />
          <Button
            size="sm"
            variant="ghost"
            icon={Download}
            disabledReason={emptyReason}
            onClick={() => saveText(`log-${devboxId}`, 'txt', `${text()}\n`)}
          >
            <span className="max-sm:sr-only">Download shown records</span>
          </Button>
        </span>
      </div>
      {(view.stats === 'shown' || view.source === 'stats') && <Statistics devboxId={devboxId} records={log.records} />}
      <Records
        records={shown}
        isEmpty={log.records.length === 0}
        wraps={wraps}
        onInsert={mayType ? insertAtPrompt : undefined}
        onExecution={(execution) => change({ execution }, 'push')}
      />
    </section>
  )
}

const Statistics = ({ devboxId, records }: { devboxId: string; records: readonly NumberedRecord[] }) => {
  const { data: devbox } = useQuery(devboxQueries.get(devboxId))
  const samples = useMemo(() => samplesOf(records), [records])
  if (samples.length === 0) return null
  return (
    <section aria-label="Statistics" className="rounded-md border border-line p-3">
      <UsageCharts samples={samples} limits={devbox && resourcesOf(devbox.launch_parameters)} />
    </section>
  )
}

/** The log without filters, for pages other than the Log tab. */
export const LogTail = ({ devboxId }: { devboxId: string }) => {
  const log = useDevboxLog(devboxId, devboxLog)
  const { shown } = useMemo(() => filterRecords(log.records, {}), [log.records])
  return (
    <section aria-label="Log" className="space-y-2">
      <p role="status" className="text-sm text-muted">
        <LogStatus log={log} />
      </p>
      <Records records={shown} isEmpty={log.records.length === 0} wraps />
    </section>
  )
}

interface LogFiltersProps {
  records: readonly NumberedRecord[]
  view: LogSearchParams
  change: (part: Partial<LogSearchParams>, how: HowToChange) => void
  problem: string | null
}

const LogFilters = ({ records, view, change, problem }: LogFiltersProps) => {
  const sources = useMemo(() => valuesOf(records, 'source', logSources, view.source), [records, view.source])
  const levels = useMemo(() => valuesOf(records, 'level', logLevels, view.level), [records, view.level])
  const activeFilters = [view.source, view.level, view.regex, view.stats, view.files].filter(Boolean).length
  const controls = (
    <>
      <Select
        aria-label="Source"
        value={view.source ?? ''}
        onChange={({ target }) => change({ source: target.value || undefined }, 'replace')}
        options={[
          { value: '', label: 'All sources' },
          ...sources.map((value) => ({ value, label: sourceLabels[value] ?? value })),
        ]}
      />
      <Select
        aria-label="Level"
        value={view.level ?? ''}
        onChange={({ target }) => change({ level: target.value || undefined }, 'replace')}
        options={[{ value: '', label: 'All levels' }, ...levels.map((value) => ({ value, label: value }))]}
      />
      <Check
        label="Regular expression"
        checked={view.regex === 'yes'}
        onCheck={(isOn) => change({ regex: isOn ? 'yes' : undefined }, 'replace')}
      />
      <Check
        label="Statistics"
        checked={view.stats === 'shown' || view.source === 'stats'}
        onCheck={(isOn) =>
          change(
            { stats: isOn ? 'shown' : undefined, ...(view.source === 'stats' && { source: undefined }) },
            'replace',
          )
        }
      />
      <Check
        label="Files tab commands"
        checked={view.files === 'shown'}
        onCheck={(isOn) => change({ files: isOn ? 'shown' : undefined }, 'replace')}
      />
    </>
  )
  return (
    <div className="flex flex-wrap items-start gap-x-3 gap-y-2 text-sm">
      <span className="w-64 max-sm:w-full">
        <Input
          icon={Search}
          aria-label="Search the log"
          placeholder="Search the log"
          aria-invalid={problem ? true : undefined}
          value={view.search ?? ''}
          onChange={({ target }) => change({ search: target.value || undefined }, 'type')}
        />
        {problem && (
          <span role="alert" className="mt-0.5 block text-xs text-danger">
            {problem}
          </span>
        )}
      </span>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <span className="contents max-sm:hidden">{controls}</span>
        <span className="sm:hidden">
          <Popover
            trigger={
              <Button icon={SlidersHorizontal}>{activeFilters > 0 ? `Filters (${activeFilters})` : 'Filters'}</Button>
            }
            label="Filter the log"
            align="start"
            className="w-72"
          >
            <div className="flex flex-col items-start gap-3">{controls}</div>
          </Popover>
        </span>
        {view.execution !== undefined && (
          <Button size="sm" icon={X} title={view.execution} onClick={() => change({ execution: undefined }, 'push')}>
            Execution <VisibleText>{shortenMiddle(view.execution, 18)}</VisibleText>
          </Button>
        )}
      </div>
    </div>
  )
}

/** The values of the contract, then any others found in this log. */
const valuesOf = (
  records: readonly NumberedRecord[],
  field: 'source' | 'level',
  known: readonly string[],
  chosen: string | undefined,
): string[] => [...new Set([...known, ...records.map((record) => record[field]), ...(chosen ? [chosen] : [])])]

const sourceLabels: Record<string, string> = {
  setup_commands: 'Launch commands',
  entrypoint: 'Entrypoint',
  exec: 'Commands',
  files: 'Files',
  stats: 'Statistics',
  kmsg: 'System',
}

interface RecordsProps {
  records: readonly NumberedRecord[]
  isEmpty: boolean
  wraps: boolean
  onExecution?: (execution: string) => void
  onInsert?: ((command: string) => void) | undefined
}

const Records = ({ records, isEmpty, wraps, onInsert, onExecution }: RecordsProps) => {
  if (records.length === 0)
    return (
      <p className="rounded-md border border-line px-3 py-6 text-center text-muted">
        {isEmpty ? 'Nothing logged yet.' : 'No matching records.'}
      </p>
    )
  return (
    <FollowedLog
      label="Records"
      end={records}
      className="h-[min(70dvh,48rem)] rounded-md border border-line bg-surface-0 py-1 font-mono text-sm"
    >
      {records.map((record) => (
        <Line key={record.number} record={record} wraps={wraps} onInsert={onInsert} onExecution={onExecution} />
      ))}
    </FollowedLog>
  )
}

interface LineProps extends Pick<RecordsProps, 'wraps' | 'onInsert' | 'onExecution'> {
  record: NumberedRecord
}

// content-visibility limits layout to the lines near the viewport.
const Line = memo(({ record, wraps, onInsert, onExecution }: LineProps) => {
  const { level, source, shell_name, cmd, cmd_id, exit_code } = record
  const isBad = level === 'error' || (exit_code != null && exit_code !== 0)
  const tone = isBad ? 'text-danger' : level === 'warn' ? 'text-attention' : cmd != null ? 'font-medium' : undefined
  return (
    <div className="group flex gap-x-3 px-3 py-px [contain-intrinsic-size:auto_1.25rem] [content-visibility:auto] hover:bg-surface-1 max-sm:flex-wrap">
      <time
        dateTime={isoTime(record.timestamp_ms)}
        title={formatExact(record.timestamp_ms)}
        className="tabular shrink-0 text-muted"
      >
        {formatTimeOfDay(record.timestamp_ms)}
      </time>
      <span className="w-28 shrink-0 truncate text-muted max-sm:w-auto" title={shell_name ?? undefined}>
        <VisibleText max={60}>{shell_name ? `${source} ${shell_name}` : source}</VisibleText>
      </span>
      {isBad && <span className="sr-only">error:</span>}
      <span
        className={classes(
          wraps ? 'min-w-0 whitespace-pre-wrap wrap-anywhere' : 'whitespace-pre',
          'max-sm:order-last',
          tone,
        )}
      >
        <StyledText spans={record.spans} max={maxRecordLength} />
      </span>
      {cmd != null && cmd_id && onExecution && (
        <button type="button" onClick={() => onExecution(cmd_id)} className={lineAction}>
          Only this command
        </button>
      )}
      {cmd != null && onInsert && (
        <button type="button" title="Insert at prompt" onClick={() => onInsert(cmd)} className={lineAction}>
          <SquareTerminal aria-hidden className="size-3.5" />
          <span className="sr-only">Insert at prompt</span>
        </button>
      )}
    </div>
  )
})

/** A limit for services that don't truncate records. */
const maxRecordLength = 8_192

const lineAction =
  '-my-px shrink-0 rounded-sm px-1 font-sans text-muted sm:opacity-0 group-hover:opacity-100 hover:bg-surface-3 hover:text-text focus-visible:opacity-100'

interface Matches {
  /** Numbers of the matching records, of the previous pattern while the next one runs; null without a pattern. */
  numbers: ReadonlySet<number> | null
  problem: string | null
}

interface Result extends Matches {
  pattern: RegExp
  records: readonly NumberedRecord[]
}

/** Matches records in a worker, one search at a time, and again as records arrive. */
const useMatches = (records: readonly NumberedRecord[], pattern: RegExp | null): Matches => {
  const [last, setLast] = useState<Result>()
  const isSamePattern = last?.pattern === pattern
  const isCurrent = isSamePattern && (last.records === records || last.problem !== null)
  const running = useRef<AbortController>(undefined)

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new pattern aborts the search for the old one
  useEffect(() => () => running.current?.abort(), [pattern])
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs after each search, since records may have arrived
  useEffect(() => {
    const isRunning = running.current && !running.current.signal.aborted
    if (!pattern || isCurrent || isRunning) return
    const search = new AbortController()
    running.current = search
    const finish = (matches: Matches) => {
      if (search.signal.aborted) return
      running.current = undefined
      setLast({ pattern, records, ...matches })
    }
    matchInWorker(
      pattern,
      records.map(({ text }) => text),
      search.signal,
    ).then(
      (indexes) =>
        finish(
          indexes
            ? { numbers: new Set(indexes.flatMap((at) => records[at]?.number ?? [])), problem: null }
            : { numbers: null, problem: tooSlow },
        ),
      (error: Error) => finish({ numbers: null, problem: error.message }),
    )
  }, [records, pattern, isCurrent, last])

  return { numbers: (pattern && last?.numbers) ?? null, problem: isSamePattern ? last.problem : null }
}

'use client'
import { SquareTerminal } from 'lucide-react'
import { memo, useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { useAskTerminals } from '#components/terminal/workspace/use-ask-terminals.ts'
import { classes } from '#components/ui/classes.ts'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { FollowedLog } from '#components/ui/followed-log.tsx'
import { Select } from '#components/ui/select.tsx'
import { formatTimeOfDay } from '#components/ui/time-text.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCount } from '#lib/console/frame/format.ts'
import { logLine, logText, type NumberedRecord } from '#lib/console/live/log-feed.ts'
import { devboxLog } from '#lib/console/queries/logs.ts'
import { logSources } from '#lib/contract/logs.ts'
import { LogState } from './log-state.tsx'

/** What happened in a devbox and what happens now; follows its end unless the reader has scrolled away from it. */
export const LogPanel = ({ devboxId }: { devboxId: string }) => {
  const feed = useMemo(() => devboxLog(devboxId), [devboxId])
  useEffect(() => {
    const leaving = new AbortController()
    void feed.follow(leaving.signal)
    return () => leaving.abort()
  }, [feed])
  const log = useSyncExternalStore(feed.subscribe, feed.getSnapshot, feed.getSnapshot)
  const [source, setSource] = useState('')
  const shown = useMemo(
    () => (source === '' ? log.records : log.records.filter((record) => record.source === source)),
    [log.records, source],
  )
  const ask = useAskTerminals(devboxId)
  const send = useCallback((text: string) => ask('prompt', text), [ask])
  return (
    <section aria-label="Log" className="space-y-2">
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-2 text-sm text-muted">
        <Select
          aria-label="Source"
          value={source}
          onChange={({ target }) => setSource(target.value)}
          options={[
            { value: '', label: 'All sources' },
            ...logSources.map((value) => ({ value, label: sourceWords[value] })),
          ]}
        />
        <p role="status">
          <LogState log={log} />
        </p>
        <p className="tabular">
          {formatCount(shown.length)} of {formatCount(log.records.length + log.dropped)} records
          {log.dropped > 0 && `; the first ${formatCount(log.dropped)} are not kept here`}
        </p>
        <CopyButton
          what="log"
          text={() => shown.map(logLine).join('\n')}
          className="ml-auto"
          disabledReason={shown.length === 0 ? 'there is nothing to copy' : null}
        />
      </div>
      <Records records={shown} isEmpty={log.records.length === 0} onSend={send} />
    </section>
  )
}

const sourceWords: Record<(typeof logSources)[number], string> = {
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
  /** Puts the command of a record on the prompt of a terminal. */
  onSend: (command: string) => void
}

const Records = ({ records, isEmpty, onSend }: RecordsProps) => {
  if (records.length === 0)
    return (
      <p className="rounded-md border border-line px-3 py-6 text-center text-muted">
        {isEmpty ? 'Nothing has been logged yet.' : 'No record of this source.'}
      </p>
    )
  return (
    <FollowedLog
      label="Records"
      end={records}
      className="h-[min(70dvh,48rem)] rounded-md border border-line bg-surface-0 py-1 font-mono text-sm"
    >
      {records.map((record) => (
        <Line key={record.number} record={record} onSend={onSend} />
      ))}
    </FollowedLog>
  )
}

// content-visibility: the browser lays out only what is near the view, however long the log.
const Line = memo(({ record, onSend }: { record: NumberedRecord; onSend: (command: string) => void }) => {
  const { level, source, shell_name, cmd, exit_code } = record
  const isBad = level === 'error' || (exit_code != null && exit_code !== 0)
  const tone = isBad ? 'text-danger' : level === 'warn' ? 'text-attention' : cmd != null ? 'font-medium' : undefined
  return (
    <div className="group flex gap-x-3 px-3 py-px [contain-intrinsic-size:auto_1.25rem] [content-visibility:auto] hover:bg-surface-1 max-sm:flex-wrap">
      <time
        dateTime={new Date(record.timestamp_ms).toISOString()}
        title={new Date(record.timestamp_ms).toISOString()}
        className="tabular shrink-0 text-muted"
      >
        {formatTimeOfDay(record.timestamp_ms)}
      </time>
      <span className="w-28 shrink-0 truncate text-muted" title={shell_name ?? undefined}>
        <VisibleText max={60}>{shell_name ? `${source} ${shell_name}` : source}</VisibleText>
      </span>
      {isBad && <span className="sr-only">error:</span>}
      <span className={classes('min-w-0 break-all whitespace-pre-wrap', tone)}>
        <VisibleText max={8_192}>{logText(record)}</VisibleText>
      </span>
      {cmd != null && (
        <button
          type="button"
          title="Put on the terminal's prompt"
          onClick={() => onSend(cmd)}
          className="-my-px ml-auto shrink-0 rounded-sm px-1 text-muted opacity-0 group-hover:opacity-100 hover:bg-surface-3 hover:text-text focus-visible:opacity-100"
        >
          <SquareTerminal aria-hidden className="size-3.5" />
          <span className="sr-only">Put on the terminal's prompt</span>
        </button>
      )}
    </div>
  )
})

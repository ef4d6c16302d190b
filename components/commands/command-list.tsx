'use client'
import { useQuery } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import { useSearchParams } from 'next/navigation'
import { useEffect, useMemo, useState } from 'react'
import { LogState } from '#components/devboxes/log/log-state.tsx'
import { FilterInput } from '#components/filters/filter-input.tsx'
import { Button } from '#components/ui/button.tsx'
import { Check } from '#components/ui/choice/check.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { type Devbox, hasEnded } from '#lib/contract/devboxes.ts'
import { type CommandActions, CommandCard, CommandRow } from './command-card.tsx'
import type { CommandRun } from './command-run.ts'
import type { ExecutionLogSnapshot, LoggedExecution } from './execution-log.ts'
import { executionQueries, foundRun } from './queries.ts'

const shownAtOnce = 50

interface CommandListProps {
  devbox: Devbox
  log: ExecutionLogSnapshot
  actions: CommandActions
}

/** The commands that the log of the devbox names, and those of this page. */
export const CommandList = ({ devbox, log, actions }: CommandListProps) => {
  const { data: runs } = useQuery(executionQueries.ofThisVisit(devbox.id))
  const { opened, toggle } = useOpened(devbox.id)
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const [search, setSearch] = useState<string>()
  const [showsReads, setShowsReads] = useState(false)
  const [limit, setLimit] = useState(shownAtOnce)
  const all = useMemo(() => merged(runs, log.executions, opened), [runs, log.executions, opened])
  const isRead = ({ id, logged }: Listed) => (logged?.isReadByFiles ?? false) && !opened.includes(id)
  const reads = all.filter(isRead)
  const listed = showsReads ? all : all.filter((each) => !isRead(each))
  const wanted = search?.toLowerCase()
  const found = wanted ? listed.filter((each) => textOf(each).toLowerCase().includes(wanted)) : listed
  const shown = found.slice(0, limit)
  const isOver = hasEnded(devbox.status)
  const close = (id: string) => {
    setClosed(new Set([...closed, id]))
    toggle(id, false)
  }
  const open = (id: string) => {
    setClosed(new Set([...closed].filter((each) => each !== id)))
    toggle(id, true)
  }
  return (
    <section aria-label="Commands" className="space-y-3">
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-2 text-sm text-muted">
        <FilterInput
          label="Search the list"
          value={search}
          onFilter={setSearch}
          className="w-64 max-sm:w-full"
          icon={Search}
        />
        <p className="tabular">
          {formatCount(shown.length)} of {formatCount(all.length + log.dropped)} commands
          {!showsReads && reads.length > 0 && `; ${formatCountOf(reads.length, 'read')} of the Files tab left out`}
          {log.dropped > 0 && `; the oldest ${formatCount(log.dropped)} are not kept here`}
          {log.unnamed > 0 && `; only in the Log: ${formatCount(log.unnamed)} without an id`}
        </p>
        <p role="status">
          <LogState log={log} />
        </p>
        {reads.length > 0 && <Check label="Reads of the Files tab" checked={showsReads} onCheck={setShowsReads} />}
      </div>
      {all.length === 0 && (
        <p className="py-6 text-center text-muted">
          {log.health.state === 'live' || log.hasEnded
            ? 'The log of this devbox names no command yet. Those run in a terminal are not in it.'
            : 'Reading the log of this devbox'}
        </p>
      )}
      {all.length > 0 && found.length === 0 && (
        <p className="py-6 text-center text-muted">
          {listed.length === 0 ? 'Only the Files tab has run commands here.' : 'No command matches.'}
        </p>
      )}
      {shown.map(({ id, run, logged }) => {
        if (run && !closed.has(id))
          return <CommandCard key={id} run={run} logged={logged} onClose={() => close(id)} {...actions} />
        if (opened.includes(id) && !run)
          return (
            <FoundCommand
              key={id}
              devboxId={devbox.id}
              executionId={id}
              logged={logged}
              onClose={() => close(id)}
              actions={actions}
            />
          )
        return <CommandRow key={id} logged={logged ?? ofRun(run, id)} isOver={isOver} onOpen={() => open(id)} />
      })}
      {found.length > shown.length && (
        <Button onClick={() => setLimit(limit + shownAtOnce)}>
          Show {formatCount(Math.min(shownAtOnce, found.length - shown.length))} more
        </Button>
      )}
      <p className="text-sm text-muted">
        The service has no list of executions: these are the ones the log of the devbox names, and those of this page.
      </p>
    </section>
  )
}

/** The executions that are open; the address names the one opened last. */
const useOpened = (devboxId: string) => {
  const named = useSearchParams().get('execution')
  const [opened, setOpened] = useState<readonly string[]>(named ? [named] : [])
  const toggle = (id: string, isOpen: boolean) => {
    const next = [...opened.filter((each) => each !== id), ...(isOpen ? [id] : [])]
    setOpened(next)
    history.replaceState(null, '', paths.devbox(devboxId, 'commands', next.at(-1)))
  }
  return { opened, toggle }
}

interface Listed {
  id: string
  run?: CommandRun
  logged?: LoggedExecution
}

/** What the log does not tell, or not yet, stands first. */
const merged = (
  runs: readonly CommandRun[],
  executions: readonly LoggedExecution[],
  opened: readonly string[],
): Listed[] => {
  const ofVisit = new Map(runs.map((run) => [run.getSnapshot().execution.execution_id, run]))
  const logged = new Set(executions.map(({ execution_id }) => execution_id))
  const first = [...new Set([...ofVisit.keys(), ...opened])].filter((id) => !logged.has(id))
  return [
    ...first.map((id) => ({ id, run: ofVisit.get(id) })),
    ...executions.map((each) => ({ id: each.execution_id, run: ofVisit.get(each.execution_id), logged: each })),
  ]
}

const textOf = ({ id, run, logged }: Listed): string =>
  [id, run?.command ?? logged?.command, logged?.shell_name].filter(Boolean).join(' ')

const ofRun = (run: CommandRun | undefined, execution_id: string): LoggedExecution => {
  const state = run?.getSnapshot()
  return {
    execution_id,
    command: run?.command ?? null,
    isCut: false,
    isReadByFiles: false,
    shell_name: state?.execution.shell_name ?? null,
    source: 'exec',
    startedMs: state?.startedMs ?? null,
    endedMs: state?.endedMs ?? null,
    exit_code: state?.execution.exit_status ?? null,
  }
}

interface FoundCommandProps {
  devboxId: string
  executionId: string
  logged: LoggedExecution | undefined
  onClose: () => void
  actions: CommandActions
}

/** Followed while it is open. */
const FoundCommand = ({ devboxId, executionId, logged, onClose, actions }: FoundCommandProps) => {
  const [run] = useState(() => foundRun(devboxId, executionId))
  useEffect(() => {
    const leaving = new AbortController()
    void run.follow(leaving.signal)
    return () => leaving.abort()
  }, [run])
  return <CommandCard run={run} logged={logged} onClose={onClose} {...actions} />
}

'use client'
import { useQuery } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import { useSearchParams } from 'next/navigation'
import { useEffect, useMemo, useState } from 'react'
import { LogStatus } from '#components/devboxes/log/use-devbox-log.tsx'
import { FilterInput } from '#components/list/filter-fields.tsx'
import { Button } from '#components/ui/button.tsx'
import { Check } from '#components/ui/choice/check.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount } from '#lib/browser/format.ts'
import { type Devbox, hasEnded } from '#lib/contract/devboxes.ts'
import { type CommandActions, CommandCard, CommandRow } from './command-card.tsx'
import type { CommandRun } from './command-run.ts'
import type { ExecutionLogSnapshot, LoggedExecution } from './execution-log.ts'
import { executionQueries, externalRun } from './queries.ts'

const pageSize = 50

interface CommandListProps {
  devbox: Devbox
  log: ExecutionLogSnapshot
  actions: CommandActions
}

export const CommandList = ({ devbox, log, actions }: CommandListProps) => {
  const { data: runs } = useQuery(executionQueries.startedHere(devbox.id))
  const { opened, toggle } = useOpened(devbox.id)
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const [search, setSearch] = useState<string>()
  const [showsFilesTab, setShowsFilesTab] = useState(false)
  const [limit, setLimit] = useState(pageSize)
  const all = useMemo(() => mergeCommands(runs, log.executions, opened), [runs, log.executions, opened])
  const isHidden = ({ id, logged }: ListedCommand) => (logged?.isFromFilesTab ?? false) && !opened.includes(id)
  const fromFilesTab = all.filter(isHidden)
  const listed = showsFilesTab ? all : all.filter((each) => !isHidden(each))
  const text = search?.toLowerCase()
  const matches = text ? listed.filter((each) => searchText(each).toLowerCase().includes(text)) : listed
  const shown = matches.slice(0, limit)
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
          label="Search history"
          value={search}
          onFilter={setSearch}
          className="w-64 max-sm:w-full"
          icon={Search}
        />
        <p className="tabular">
          {formatCount(shown.length)} of {formatCount(all.length + log.dropped)} commands
          {!showsFilesTab &&
            fromFilesTab.length > 0 &&
            ` · ${formatCount(fromFilesTab.length)} from the Files tab hidden`}
          {log.dropped > 0 && ` · oldest ${formatCount(log.dropped)} not kept`}
          {log.unnamed > 0 && ` · ${formatCount(log.unnamed)} without an id, in the log only`}
        </p>
        <p role="status">
          <LogStatus log={log} />
        </p>
        {fromFilesTab.length > 0 && (
          <Check label="Show Files tab commands" checked={showsFilesTab} onCheck={setShowsFilesTab} />
        )}
      </div>
      {all.length === 0 && (
        <p className="py-6 text-center text-muted">
          {log.health.state === 'live' || log.hasEnded
            ? "No commands yet. Commands typed in a terminal aren't logged."
            : 'Loading commands'}
        </p>
      )}
      {all.length > 0 && matches.length === 0 && (
        <p className="py-6 text-center text-muted">
          {listed.length === 0 ? 'Only the Files tab has run commands here.' : 'No matching commands.'}
        </p>
      )}
      {shown.map(({ id, run, logged }) => {
        if (run && !closed.has(id))
          return <CommandCard key={id} run={run} logged={logged} onClose={() => close(id)} {...actions} />
        if (opened.includes(id) && !run)
          return (
            <ExternalCommand
              key={id}
              devboxId={devbox.id}
              executionId={id}
              logged={logged}
              onClose={() => close(id)}
              actions={actions}
            />
          )
        return (
          <CommandRow
            key={id}
            logged={logged ?? toLogged(run, id)}
            devboxHasEnded={hasEnded(devbox.status)}
            onOpen={() => open(id)}
          />
        )
      })}
      {matches.length > shown.length && (
        <Button onClick={() => setLimit(limit + pageSize)}>
          Show {formatCount(Math.min(pageSize, matches.length - shown.length))} more
        </Button>
      )}
      <p className="text-sm text-muted">Listed from the devbox log and from commands run on this page.</p>
    </section>
  )
}

/** Open executions; the address names the last one opened. */
const useOpened = (devboxId: string) => {
  const linked = useSearchParams().get('execution')
  const [opened, setOpened] = useState<readonly string[]>(linked ? [linked] : [])
  const toggle = (id: string, isOpen: boolean) => {
    const next = [...opened.filter((each) => each !== id), ...(isOpen ? [id] : [])]
    setOpened(next)
    history.replaceState(null, '', paths.devbox(devboxId, 'commands', { execution: next.at(-1) }))
  }
  return { opened, toggle }
}

interface ListedCommand {
  id: string
  run?: CommandRun
  logged?: LoggedExecution
}

/** Commands not in the log yet come first. */
const mergeCommands = (
  runs: readonly CommandRun[],
  executions: readonly LoggedExecution[],
  opened: readonly string[],
): ListedCommand[] => {
  const started = new Map(runs.map((run) => [run.getSnapshot().execution.execution_id, run]))
  const logged = new Set(executions.map(({ execution_id }) => execution_id))
  const first = [...new Set([...started.keys(), ...opened])].filter((id) => !logged.has(id))
  return [
    ...first.map((id) => ({ id, run: started.get(id) })),
    ...executions.map((each) => ({ id: each.execution_id, run: started.get(each.execution_id), logged: each })),
  ]
}

const searchText = ({ id, run, logged }: ListedCommand): string =>
  [id, run?.command ?? logged?.command, logged?.shell_name].filter(Boolean).join(' ')

const toLogged = (run: CommandRun | undefined, execution_id: string): LoggedExecution => {
  const state = run?.getSnapshot()
  return {
    execution_id,
    command: run?.command ?? null,
    isCut: false,
    isFromFilesTab: false,
    shell_name: state?.execution.shell_name ?? null,
    source: 'exec',
    startedMs: state?.startedMs ?? null,
    endedMs: state?.endedMs ?? null,
    exit_code: state?.execution.exit_status ?? null,
  }
}

interface ExternalCommandProps {
  devboxId: string
  executionId: string
  logged: LoggedExecution | undefined
  onClose: () => void
  actions: CommandActions
}

/** Follows the command while its card is open. */
const ExternalCommand = ({ devboxId, executionId, logged, onClose, actions }: ExternalCommandProps) => {
  const [run] = useState(() => externalRun(devboxId, executionId))
  useEffect(() => {
    const leaving = new AbortController()
    void run.follow(leaving.signal)
    return () => leaving.abort()
  }, [run])
  return <CommandCard run={run} logged={logged} onClose={onClose} {...actions} />
}

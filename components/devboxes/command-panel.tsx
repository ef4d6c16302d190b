'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Play, Search, X } from 'lucide-react'
import { useSearchParams } from 'next/navigation'
import { type FormEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { FilterInput } from '#components/filters/filter-input.tsx'
import { useAskTerminals } from '#components/terminal/workspace/use-ask-terminals.ts'
import { Button } from '#components/ui/button.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Field, TextField } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { submitOnCtrlEnter, Textarea } from '#components/ui/input.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { curlPost } from '#lib/console/api/curl-post.ts'
import { formatCount } from '#lib/console/frame/format.ts'
import { styledPieces } from '#lib/console/live/ansi.ts'
import type { CommandRun } from '#lib/console/live/command-run.ts'
import type { ExecutionLogSnapshot, LoggedExecution } from '#lib/console/live/execution-log.ts'
import { executionMutations, executionQueries, foundRun } from '#lib/console/queries/executions.ts'
import { devboxExecutions } from '#lib/console/queries/logs.ts'
import { type Devbox, devboxRefusal, hasEnded } from '#lib/contract/devboxes.ts'
import type { SyncExecution } from '#lib/contract/executions.ts'
import { Check } from './check.tsx'
import { type CommandActions, CommandCard, CommandRow, ExitBadge } from './command-card.tsx'
import { LogState } from './log-state.tsx'
import { StyledText } from './styled-text.tsx'
import { useFollowed } from './use-followed.ts'

/** Runs commands on the devbox, and shows those that anyone ran. */
export const CommandPanel = ({ devbox, serviceUrl }: { devbox: Devbox; serviceUrl: string }) => {
  const box = useRef<HTMLTextAreaElement>(null)
  const [command, setCommand] = useState('')
  const [shellName, setShellName] = useState('')
  const [attachStdin, setAttachStdin] = useState(false)
  const [isHeld, setIsHeld] = useState(false)
  const execute = useMutation(executionMutations.executeAsync())
  const executeSync = useMutation(executionMutations.executeSync())
  const log = useFollowed(devbox.id, devboxExecutions)
  const shellNames = useMemo(
    () => [...new Set(log.executions.flatMap(({ shell_name }) => shell_name ?? []))],
    [log.executions],
  )
  const isStarting = execute.isPending || executeSync.isPending
  const ask = useAskTerminals(devbox.id)
  const refusal = devboxRefusal('execute', devbox.status)
  // The server draws the field: it may hold what was typed before this code was there.
  useLayoutEffect(() => setCommand(box.current?.value ?? ''), [])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (command.trim() === '' || refusal || isStarting) return
    const start = { devboxId: devbox.id, command, shellName: shellName.trim() }
    // What was typed stays if the service refuses it.
    const onSuccess = () => setCommand('')
    if (isHeld) executeSync.mutate(start, { onSuccess })
    else execute.mutate({ ...start, attachStdin }, { onSuccess })
  }
  const actions: CommandActions = {
    onEdit: (text) => {
      setCommand(text)
      box.current?.focus()
    },
    onRun: (text, shell) => {
      if (!refusal && !isStarting) execute.mutate({ devboxId: devbox.id, command: text, shellName: shell })
    },
    onSend: (text) => ask('prompt', text),
    asCurl: (text, shell) => executeCall(serviceUrl, devbox.id, text, shell),
    runRefusal: refusal,
  }
  return (
    <div className="space-y-6">
      <form onSubmit={submit} className="space-y-2">
        <Field label="Command" hint="Runs in bash, from the home directory of the devbox">
          {(control) => (
            <Textarea
              {...control}
              ref={box}
              mono
              rows={Math.min(12, Math.max(2, command.split('\n').length))}
              value={command}
              placeholder="ls -la"
              onChange={({ target }) => setCommand(target.value)}
              onKeyDown={submitOnCtrlEnter}
            />
          )}
        </Field>
        {execute.error && <InlineError error={execute.error} />}
        {executeSync.error && <InlineError error={executeSync.error} />}
        <div className="flex flex-wrap items-end gap-3">
          <TextField
            label="Shell"
            optional
            mono
            value={shellName}
            onText={setShellName}
            placeholder="a name keeps its directory and variables"
            list={`${devbox.id}-shells`}
          />
          <datalist id={`${devbox.id}-shells`}>
            {shellNames.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <span className="inline-flex flex-wrap gap-x-3 text-sm">
            {!isHeld && <Check label="with standard input" checked={attachStdin} onCheck={setAttachStdin} />}
            <Check label="in one call, without a stream (deprecated)" checked={isHeld} onCheck={setIsHeld} />
          </span>
          <Button
            type="submit"
            variant="primary"
            icon={Play}
            busy={isStarting}
            disabledReason={refusal ?? (command.trim() === '' ? 'type a command first' : null)}
          >
            Run command
          </Button>
          <span className="pb-1.5 text-sm text-muted">or Ctrl+Enter</span>
        </div>
      </form>
      {executeSync.data && <SyncResult result={executeSync.data} onClose={executeSync.reset} />}
      <CommandList devbox={devbox} log={log} actions={actions} />
    </div>
  )
}

/** What a call that was held until its command ended brought back. */
const SyncResult = ({ result, onClose }: { result: SyncExecution; onClose: () => void }) => (
  <section aria-label="Result of the call" className="overflow-hidden rounded-lg border border-line">
    <header className="flex items-center gap-2 bg-surface-1 px-3 py-1.5">
      <span className="flex-1 font-medium">The call ended</span>
      <span role="status">
        <ExitBadge status={result.exit_status} />
      </span>
      <IconButton size="sm" icon={X} label="Close this result" onClick={onClose} />
    </header>
    {(['stdout', 'stderr'] as const).map(
      (stream) =>
        (result[stream] !== '' || stream === 'stdout') && (
          <div key={stream} className="border-t border-line px-3 py-2">
            <p className="text-sm text-muted">{result[stream] === '' ? 'No output' : stream}</p>
            <pre
              // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
              tabIndex={0}
              className="max-h-96 overflow-auto font-mono text-sm break-all whitespace-pre-wrap"
            >
              <StyledText pieces={styledPieces(result[stream]).pieces} />
            </pre>
          </div>
        ),
    )}
  </section>
)

/** In single quotes, which end and begin anew around each one inside. */
const executeCall = (serviceUrl: string, id: string, command: string, shellName: string | null): string =>
  curlPost(
    serviceUrl,
    `/v1/devboxes/${id}/execute_async`,
    JSON.stringify({ command, ...(shellName && { shell_name: shellName }) }).replaceAll("'", "'\\''"),
  )

const shownAtOnce = 50

interface CommandListProps {
  devbox: Devbox
  log: ExecutionLogSnapshot
  actions: CommandActions
}

const CommandList = ({ devbox, log, actions }: CommandListProps) => {
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
          {!showsReads &&
            reads.length > 0 &&
            `; ${formatCount(reads.length)} ${reads.length === 1 ? 'read' : 'reads'} of the Files tab left out`}
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

'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Play, Search, X } from 'lucide-react'
import { useSearchParams } from 'next/navigation'
import { type FormEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useDevbox } from '#components/devboxes/detail.tsx'
import { StyledText } from '#components/devboxes/log/styled-text.tsx'
import { LogStatus, useDevboxLog } from '#components/devboxes/log/use-devbox-log.tsx'
import { FilterInput } from '#components/list/filter-fields.tsx'
import { useTerminalRequest } from '#components/terminal/workspace/use-terminal-layout.ts'
import { Button } from '#components/ui/button.tsx'
import { Check } from '#components/ui/choice/check.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Field, TextField } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { submitOnCtrlEnter, Textarea } from '#components/ui/input.tsx'
import { useRefusal } from '#components/ui/refusals.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { type CodeSamples, samplesOf } from '#lib/browser/api/code-samples.ts'
import { formatCount } from '#lib/browser/format.ts'
import { joinLines, readLines } from '#lib/browser/text/console-text.ts'
import { type Devbox, devboxRefusal, hasEnded } from '#lib/contract/devboxes.ts'
import type { SyncExecution } from '#lib/contract/executions.ts'
import { type CommandActions, CommandCard, CommandRow, ExitBadge } from './command-card.tsx'
import type { CommandRun } from './command-run.ts'
import type { ExecutionLogSnapshot, LoggedExecution } from './execution-log.ts'
import { devboxExecutions, executionMutations, executionQueries, externalRun } from './queries.ts'

export const CommandPanel = () => {
  const { devbox, serviceUrl } = useDevbox()
  const textarea = useRef<HTMLTextAreaElement>(null)
  const [command, setCommand] = useState('')
  const [shellName, setShellName] = useState('')
  const [attachStdin, setAttachStdin] = useState(false)
  const [isSync, setIsSync] = useState(false)
  const execute = useMutation(executionMutations.executeAsync())
  const executeSync = useMutation(executionMutations.executeSync())
  const log = useDevboxLog(devbox.id, devboxExecutions)
  const shellNames = useMemo(
    () => [...new Set(log.executions.flatMap(({ shell_name }) => shell_name ?? []))],
    [log.executions],
  )
  const isStarting = execute.isPending || executeSync.isPending
  const ask = useTerminalRequest(devbox.id)
  const notAllowed = useRefusal(isSync ? 'executions.executeSync' : 'executions.executeAsync')
  const refusal = notAllowed ?? devboxRefusal('execute', devbox.status)
  // Keeps text typed into the server-rendered field before hydration.
  useLayoutEffect(() => setCommand(textarea.current?.value ?? ''), [])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (command.trim() === '' || refusal || isStarting) return
    const start = { devboxId: devbox.id, command, shellName: shellName.trim() }
    // Keeps the text on failure, and anything typed while the request was pending.
    const onSuccess = () => setCommand((now) => (now === command ? '' : now))
    if (isSync) executeSync.mutate(start, { onSuccess })
    else execute.mutate({ ...start, attachStdin }, { onSuccess })
  }
  const actions: CommandActions = {
    onEdit: (text) => {
      setCommand(text)
      textarea.current?.focus()
    },
    onRun: (text, shell) => {
      if (!refusal && !isStarting) execute.mutate({ devboxId: devbox.id, command: text, shellName: shell })
    },
    onSend: (text) => ask('prompt', text),
    samplesOf: (text, shell) => executeSamples(serviceUrl, devbox.id, text, shell),
    runRefusal: refusal,
  }
  return (
    <div className="space-y-6">
      <form onSubmit={submit} className="space-y-2">
        <Field label="Command" hint="Runs in bash, in the home directory">
          {(control) => (
            <Textarea
              {...control}
              ref={textarea}
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
            placeholder="name of a persistent shell"
            list={`${devbox.id}-shells`}
          />
          <datalist id={`${devbox.id}-shells`}>
            {shellNames.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <span className="inline-flex flex-wrap gap-x-3 text-sm">
            {!isSync && <Check label="Attach standard input" checked={attachStdin} onCheck={setAttachStdin} />}
            <Check label="Wait for the result, without streaming (deprecated)" checked={isSync} onCheck={setIsSync} />
          </span>
          <Button
            type="submit"
            variant="primary"
            icon={Play}
            busy={isStarting}
            disabledReason={refusal ?? (command.trim() === '' ? 'enter a command first' : null)}
          >
            Run command
          </Button>
          <span className="pb-1.5 text-sm text-muted">{notAllowed ?? 'or Ctrl+Enter'}</span>
        </div>
      </form>
      {executeSync.data && <SyncResult result={executeSync.data} onClose={executeSync.reset} />}
      <CommandList devbox={devbox} log={log} actions={actions} />
    </div>
  )
}

const SyncResult = ({ result, onClose }: { result: SyncExecution; onClose: () => void }) => (
  <section aria-label="Result" className="overflow-hidden rounded-lg border border-line">
    <header className="flex items-center gap-2 bg-surface-1 px-3 py-1.5">
      <span className="flex-1 font-medium">Result</span>
      <span role="status">
        <ExitBadge status={result.exit_status} />
      </span>
      <IconButton size="sm" icon={X} label="Close result" onClick={onClose} />
    </header>
    {(['stdout', 'stderr'] as const).map(
      (stream) =>
        (result[stream] !== '' || result[`${stream}_truncated`] || stream === 'stdout') && (
          <div key={stream} className="border-t border-line px-3 py-2">
            <p className="text-sm text-muted">
              {result[stream] === '' ? 'No output' : stream}
              {result[`${stream}_truncated`] && ' · truncated'}
            </p>
            <pre
              // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable by keyboard
              tabIndex={0}
              className="max-h-96 overflow-auto font-mono text-sm break-all whitespace-pre-wrap"
            >
              <StyledText spans={joinLines(readLines(result[stream]).lines)} />
            </pre>
          </div>
        ),
    )}
  </section>
)

const executeSamples = (serviceUrl: string, id: string, command: string, shellName: string | null): CodeSamples =>
  samplesOf(
    {
      path: `/v1/devboxes/${id}/execute_async`,
      method: 'devboxes.executeAsync',
      id,
      body: { command, ...(shellName && { shell_name: shellName }) },
      result: 'execution',
    },
    serviceUrl,
  )

const pageSize = 50

interface CommandListProps {
  devbox: Devbox
  log: ExecutionLogSnapshot
  actions: CommandActions
}

const CommandList = ({ devbox, log, actions }: CommandListProps) => {
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
          {all.length === 0
            ? 'No commands'
            : `${formatCount(shown.length)} of ${formatCount(all.length + log.dropped)} commands`}
          {!showsFilesTab &&
            fromFilesTab.length > 0 &&
            ` · ${formatCount(fromFilesTab.length)} from the Files tab hidden`}
          {log.dropped > 0 && ` · oldest ${formatCount(log.dropped)} unloaded`}
          {log.unnamed > 0 && ` · ${formatCount(log.unnamed)} without an ID, in the log only`}
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

/** Open executions. The address has the one opened last. */
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

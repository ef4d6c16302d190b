'use client'
import { useMutation } from '@tanstack/react-query'
import {
  ChevronDown,
  CircleCheck,
  CircleHelp,
  CircleX,
  CornerDownLeft,
  Hourglass,
  LoaderCircle,
  OctagonX,
  Pencil,
  RotateCcw,
  SquareTerminal,
  Terminal,
} from 'lucide-react'
import { type FormEvent, memo, useMemo, useState, useSyncExternalStore } from 'react'
import { StyledText } from '#components/devboxes/log/styled-text.tsx'
import { copySampleItems } from '#components/layout/code-samples.tsx'
import { FilterInput } from '#components/list/filter-fields.tsx'
import { Badge } from '#components/ui/badge.tsx'
import { Button } from '#components/ui/button.tsx'
import { Check } from '#components/ui/choice/check.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { FollowedLog } from '#components/ui/followed-log.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Input } from '#components/ui/input.tsx'
import { isAway, LiveState } from '#components/ui/live-badge.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { CodeSamples } from '#lib/browser/api/code-samples.ts'
import { formatCount, formatDurationMs, formatElapsedMs } from '#lib/browser/format.ts'
import { signalName } from '#lib/browser/frame/exit-status.ts'
import { type ConsoleLine, joinLines, lineSpans, plainLine } from '#lib/browser/text/console-text.ts'
import type { CommandRun, CommandSnapshot } from './command-run.ts'
import type { LoggedExecution } from './execution-log.ts'
import { executionMutations } from './queries.ts'
import { type OutputStream, type Segment, type Transcript, transcriptText } from './transcript.ts'

export interface CommandActions {
  onEdit: (command: string) => void
  onRun: (command: string, shellName: string | null) => void
  onSend: (command: string) => void
  samplesOf: (command: string, shellName: string | null) => CodeSamples
  runRefusal: string | null
}

interface CommandCardProps extends CommandActions {
  run: CommandRun
  logged: LoggedExecution | undefined
  onClose: () => void
}

export const CommandCard = ({ run, logged, onClose, ...actions }: CommandCardProps) => {
  const snapshot = useSyncExternalStore(run.subscribe, run.getSnapshot, run.getSnapshot)
  const { execution } = snapshot
  const isRunning = !snapshot.hasEnded && snapshot.error === null
  const command = run.command || logged?.command || ''
  const shellName = execution.shell_name ?? logged?.shell_name ?? null
  return (
    <article aria-label={`Command ${command.slice(0, 80)}`} className="overflow-hidden rounded-lg border border-line">
      <header className="flex flex-wrap items-start gap-x-3 gap-y-1 bg-surface-1 px-3 py-1.5">
        <code className="max-h-32 min-w-0 flex-1 basis-60 overflow-y-auto py-1 font-mono text-sm whitespace-pre-wrap break-all">
          <span aria-hidden className="mr-2 text-muted select-none">
            $
          </span>
          {command === '' ? (
            <span className="font-sans text-muted">This command isn't in the log</span>
          ) : (
            <CommandText command={command} />
          )}
        </code>
        <div className="flex flex-wrap items-center gap-2">
          {shellName && <ShellName>{shellName}</ShellName>}
          {logged ? <LoggedTimes logged={logged} /> : <Elapsed snapshot={snapshot} />}
          <span role="status">
            <RunBadge snapshot={snapshot} />
          </span>
          {isRunning && <Kill run={run} />}
          <IconButton size="sm" icon={ChevronDown} label="Close output" onClick={onClose} />
        </div>
      </header>
      <div className="flex flex-wrap items-center gap-1 border-t border-line px-2 py-1">
        {snapshot.transcript.length > 0 && (
          <CopyButton what="output" text={() => transcriptText(snapshot.transcript)} />
        )}
        {command !== '' && (
          <RerunActions
            command={command}
            shellName={shellName}
            isCut={run.command === '' && (logged?.isCut ?? false)}
            actions={actions}
          />
        )}
        <CopyableId value={execution.execution_id} />
      </div>
      {isRunning && isAway(snapshot.health) && (
        <p className="border-t border-line bg-attention-bg px-3 py-1 text-sm text-attention">
          <LiveState health={snapshot.health} what="the output" /> The command is still running.
        </p>
      )}
      {snapshot.error !== null && (
        <div className="border-t border-line px-3 py-2">
          <InlineError error={snapshot.error} />
        </div>
      )}
      <CommandOutput
        transcript={snapshot.transcript}
        isOpen={!snapshot.isComplete && snapshot.error === null}
        truncated={snapshot.truncated}
      />
      {isRunning && <CommandStdin devbox_id={execution.devbox_id} execution_id={execution.execution_id} />}
    </article>
  )
}

interface RerunActionsProps {
  command: string
  shellName: string | null
  isCut: boolean
  actions: CommandActions
}

const RerunActions = ({ command, shellName, isCut, actions }: RerunActionsProps) => {
  const refusal = isCut ? 'the log has only the start of this command' : null
  return (
    <>
      <Button
        size="sm"
        variant="ghost"
        icon={RotateCcw}
        disabledReason={refusal ?? actions.runRefusal}
        onClick={() => actions.onRun(command, shellName)}
      >
        Rerun
      </Button>
      <Button size="sm" variant="ghost" icon={Pencil} disabledReason={refusal} onClick={() => actions.onEdit(command)}>
        Edit and rerun
      </Button>
      <DropdownMenu
        label="Copy as"
        trigger={
          <Button size="sm" variant="ghost" icon={Terminal}>
            Copy as
          </Button>
        }
        items={copySampleItems({ samples: () => actions.samplesOf(command, shellName), disabledReason: refusal })}
      />
      <IconButton
        size="sm"
        icon={SquareTerminal}
        label="Insert at prompt"
        needs="/api/terminals"
        disabledReason={refusal}
        onClick={() => actions.onSend(command)}
      />
    </>
  )
}

interface CommandRowProps {
  logged: LoggedExecution
  devboxHasEnded: boolean
  onOpen: () => void
}

export const CommandRow = ({ logged, devboxHasEnded, onOpen }: CommandRowProps) => (
  <button
    type="button"
    aria-expanded={false}
    onClick={onOpen}
    className="flex w-full flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border border-line px-3 py-1.5 text-left hover:bg-surface-2"
  >
    <span className="min-w-0 flex-1 basis-60 truncate font-mono text-sm">
      <span aria-hidden className="mr-2 text-muted">
        $
      </span>
      {logged.command === null ? (
        <span className="font-sans text-muted">
          This command isn't in the log: <VisibleText max={80}>{logged.execution_id}</VisibleText>
        </span>
      ) : (
        <VisibleText max={300}>{logged.command}</VisibleText>
      )}
    </span>
    <span className="flex flex-wrap items-center gap-2">
      {logged.source !== 'exec' && <span className="text-sm text-muted">{logged.source}</span>}
      {logged.shell_name && <ShellName>{logged.shell_name}</ShellName>}
      <LoggedTimes logged={logged} />
      <LoggedBadge logged={logged} devboxHasEnded={devboxHasEnded} />
    </span>
  </button>
)

const ShellName = ({ children }: { children: string }) => (
  <span className="max-w-40 truncate text-sm text-muted">
    shell{' '}
    <VisibleText mono max={60}>
      {children}
    </VisibleText>
  </span>
)

const LoggedTimes = ({ logged: { startedMs, endedMs } }: { logged: LoggedExecution }) => (
  <span className="tabular inline-flex gap-2 text-sm text-muted">
    {startedMs === null ? 'start not logged' : <RelativeTime ms={startedMs} />}
    {startedMs !== null && endedMs !== null && <span>took {formatDurationMs(Math.max(0, endedMs - startedMs))}</span>}
  </span>
)

const LoggedBadge = ({
  logged: { exit_code },
  devboxHasEnded,
}: {
  logged: LoggedExecution
  devboxHasEnded: boolean
}) => {
  if (exit_code !== null) return <ExitBadge status={exit_code} />
  return (
    <Badge
      tone={devboxHasEnded ? 'neutral' : 'progress'}
      icon={devboxHasEnded ? CircleHelp : Hourglass}
      title="The log has no exit status. Open the command to fetch it."
    >
      {devboxHasEnded ? 'No exit status' : 'Not finished'}
    </Badge>
  )
}

const CommandText = ({ command }: { command: string }) =>
  command.split('\n').map((line, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes
    <span key={index}>
      {index > 0 && '\n'}
      <VisibleText max={2000}>{line}</VisibleText>
    </span>
  ))

const Elapsed = ({ snapshot: { startedMs, endedMs, hasEnded } }: { snapshot: CommandSnapshot }) => {
  const text = useClock((nowMs) =>
    hasEnded ? formatDurationMs((endedMs ?? nowMs) - startedMs) : formatElapsedMs(nowMs - startedMs),
  )
  return <span className="tabular text-sm text-muted">{text}</span>
}

const RunBadge = ({ snapshot: { execution, hasEnded, error } }: { snapshot: CommandSnapshot }) => {
  if (error !== null)
    return (
      <Badge tone="attention" icon={CircleHelp}>
        Lost
      </Badge>
    )
  if (!hasEnded)
    return (
      <Badge tone="progress" icon={LoaderCircle} busy>
        {execution.status === 'queued' ? 'Queued' : execution.status === 'unknown' ? 'Checking' : 'Running'}
      </Badge>
    )
  return <ExitBadge status={execution.exit_status} />
}

export const ExitBadge = ({ status }: { status: number | null | undefined }) => (
  <Badge tone={status === 0 ? 'ok' : 'danger'} icon={status === 0 ? CircleCheck : CircleX}>
    {status == null ? 'Ended' : exitText(status)}
  </Badge>
)

const exitText = (status: number): string => {
  const signal = signalName(status)
  return signal ? `Exit ${status} (${signal})` : `Exit ${status}`
}

const Kill = ({ run }: { run: CommandRun }) => {
  const [wholeGroup, setWholeGroup] = useState(false)
  const kill = useMutation(executionMutations.kill())
  return (
    <span className="inline-flex flex-wrap items-center gap-2">
      <Check small label="Whole process group" checked={wholeGroup} onCheck={setWholeGroup} />
      <Button
        size="sm"
        icon={OctagonX}
        needs="executions.kill"
        busy={kill.isPending}
        onClick={() => kill.mutate({ run, killProcessGroup: wholeGroup })}
      >
        Kill command
      </Button>
      {kill.error && <InlineError error={kill.error} />}
    </span>
  )
}

const CommandStdin = ({ devbox_id, execution_id }: { devbox_id: string; execution_id: string }) => {
  const [text, setText] = useState('')
  const send = useMutation(executionMutations.sendStdIn())
  const busyReason = send.isPending ? 'sending input' : null
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // Keeps what was typed while the request was pending.
    const onSuccess = () => setText((now) => (now === text ? '' : now))
    if (!send.isPending) send.mutate({ devbox_id, execution_id, text: `${text}\n` }, { onSuccess })
  }
  return (
    <form onSubmit={submit} className="flex flex-wrap items-center gap-2 border-t border-line bg-surface-1 px-3 py-1.5">
      <Input
        mono
        aria-label="Standard input"
        placeholder="Input"
        className="min-w-40 flex-1"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Button type="submit" size="sm" icon={CornerDownLeft} needs="executions.sendStdIn" busy={send.isPending}>
        Send line
      </Button>
      <Button
        size="sm"
        needs="executions.sendStdIn"
        disabledReason={busyReason}
        onClick={() => send.mutate({ devbox_id, execution_id, signal: 'EOF' })}
      >
        End of input
      </Button>
      <Button
        size="sm"
        needs="executions.sendStdIn"
        disabledReason={busyReason}
        onClick={() => send.mutate({ devbox_id, execution_id, signal: 'INTERRUPT' })}
      >
        Interrupt
      </Button>
      {send.error && (
        <span className="basis-full">
          <InlineError error={send.error} />
        </span>
      )}
    </form>
  )
}

interface CommandOutputProps {
  transcript: Transcript
  isOpen: boolean
  /** Streams the service truncated. */
  truncated: readonly OutputStream[]
}

const CommandOutput = ({ transcript, isOpen, truncated }: CommandOutputProps) => {
  const [search, setSearch] = useState<string>()
  const [wraps, setWraps] = useState(true)
  const { segments } = transcript
  const lines = useMemo(() => (search ? segments.flatMap(linesOf) : null), [segments, search])
  const matches = useMemo(() => {
    const wanted = search?.toLowerCase() ?? ''
    return lines?.filter(({ line }) => plainLine(line).toLowerCase().includes(wanted))
  }, [lines, search])
  if (transcript.length === 0)
    return <p className="border-t border-line px-3 py-2 text-sm text-muted">{isOpen ? 'No output yet' : 'No output'}</p>
  const space = wraps ? 'whitespace-pre-wrap break-all' : 'whitespace-pre'
  return (
    <div className="border-t border-line">
      {transcript.dropped > 0 && (
        <Note>Truncated: the first {formatCount(transcript.dropped)} characters aren't shown.</Note>
      )}
      {truncated.length > 0 && <Note>The service kept only part of {truncated.join(' and ')}.</Note>}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-surface-1 px-3 py-1 text-sm text-muted">
        <FilterInput label="Search output" value={search} onFilter={setSearch} className="w-56 max-sm:flex-1" />
        {lines && matches && (
          <span role="status" className="tabular">
            {formatCount(matches.length)} of {formatCount(lines.length)} lines
          </span>
        )}
        <Check label="Wrap lines" checked={wraps} onCheck={setWraps} />
      </div>
      <FollowedLog label="Output" end={transcript} className={`max-h-96 px-3 py-2 font-mono text-sm ${space}`}>
        {matches
          ? matches.map(({ key, stream, line }) => (
              <div key={key} className={stream === 'stderr' ? 'border-l-2 border-danger pl-2' : undefined}>
                {stream === 'stderr' && <span className="sr-only">stderr: </span>}
                <StyledText spans={lineSpans(line)} />
              </div>
            ))
          : segments.map((segment) => <SegmentText key={segment.index} segment={segment} />)}
      </FollowedLog>
    </div>
  )
}

const Note = ({ children }: { children: React.ReactNode }) => (
  <p className="border-b border-line bg-surface-1 px-3 py-1 text-sm text-muted">{children}</p>
)

interface Line {
  key: string
  stream: Segment['stream']
  line: ConsoleLine
}

const linesOf = ({ index, stream, lines }: Segment): Line[] =>
  lines.map((line, at) => ({ key: `${index} ${at}`, stream, line }))

const SegmentText = memo(({ segment: { stream, lines } }: { segment: Segment }) => (
  <div className={stream === 'stderr' ? 'my-0.5 border-l-2 border-danger pl-2' : undefined}>
    {stream === 'stderr' && <span className="float-right ml-2 font-sans text-xs text-danger select-none">stderr</span>}
    <StyledText spans={joinLines(lines)} />
    {/* Gives an empty last line its height. */}
    {'\n'}
  </div>
))

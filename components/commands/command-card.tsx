'use client'
import { useMutation } from '@tanstack/react-query'
import {
  ChevronDown,
  CircleCheck,
  CircleHelp,
  CircleX,
  Hourglass,
  LoaderCircle,
  OctagonX,
  Pencil,
  RotateCcw,
  SquareTerminal,
  Terminal,
} from 'lucide-react'
import { useState, useSyncExternalStore } from 'react'
import { Badge } from '#components/ui/badge.tsx'
import { Button } from '#components/ui/button.tsx'
import { Check } from '#components/ui/choice/check.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { isAway, LiveState } from '#components/ui/live-badge.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatDurationMs, formatElapsedMs } from '#lib/browser/format.ts'
import { signalName } from '#lib/browser/frame/exit-words.ts'
import { CommandOutput } from './command-output.tsx'
import type { CommandRun, CommandSnapshot } from './command-run.ts'
import { CommandStdin } from './command-stdin.tsx'
import type { LoggedExecution } from './execution-log.ts'
import { executionMutations } from './queries.ts'
import { transcriptText } from './transcript.ts'

export interface CommandActions {
  onEdit: (command: string) => void
  onRun: (command: string, shellName: string | null) => void
  onSend: (command: string) => void
  /** The same call, for a shell. */
  asCurl: (command: string, shellName: string | null) => string
  /** Why nothing can be run here now. */
  runRefusal: string | null
}

interface CommandCardProps extends CommandActions {
  run: CommandRun
  /** What the log of the devbox tells of it, once it does. */
  logged: LoggedExecution | undefined
  onClose: () => void
}

/** One command with its output. */
export const CommandCard = ({ run, logged, onClose, ...actions }: CommandCardProps) => {
  const snapshot = useSyncExternalStore(run.subscribe, run.getSnapshot, run.getSnapshot)
  const { execution } = snapshot
  const isRunning = !snapshot.hasEnded && snapshot.lost === null
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
            <span className="font-sans text-muted">The log does not tell this command</span>
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
          <IconButton size="sm" icon={ChevronDown} label="Close this output" onClick={onClose} />
        </div>
      </header>
      <div className="flex flex-wrap items-center gap-1 border-t border-line px-2 py-1">
        {snapshot.transcript.length > 0 && (
          <CopyButton what="output" text={() => transcriptText(snapshot.transcript)} />
        )}
        {command !== '' && (
          <Again
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
          <LiveState health={snapshot.health} what="the output" /> The command runs on.
        </p>
      )}
      {snapshot.lost !== null && (
        <div className="border-t border-line px-3 py-2">
          <InlineError error={snapshot.lost} />
        </div>
      )}
      <CommandOutput
        transcript={snapshot.transcript}
        isOpen={!snapshot.isRead && snapshot.lost === null}
        cuts={snapshot.cut.length > 0 ? [`The service kept only a part of ${snapshot.cut.join(' and ')}.`] : []}
      />
      {isRunning && <CommandStdin devbox_id={execution.devbox_id} execution_id={execution.execution_id} />}
    </article>
  )
}

interface AgainProps {
  command: string
  shellName: string | null
  isCut: boolean
  actions: CommandActions
}

const Again = ({ command, shellName, isCut, actions }: AgainProps) => {
  const refusal = isCut ? 'the log has only the beginning of this command' : null
  return (
    <>
      <Button
        size="sm"
        variant="ghost"
        icon={RotateCcw}
        disabledReason={refusal ?? actions.runRefusal}
        onClick={() => actions.onRun(command, shellName)}
      >
        Run again
      </Button>
      <Button size="sm" variant="ghost" icon={Pencil} disabledReason={refusal} onClick={() => actions.onEdit(command)}>
        Edit and run again
      </Button>
      <CopyButton
        what="as curl"
        icon={Terminal}
        disabledReason={refusal}
        text={() => actions.asCurl(command, shellName)}
      />
      <IconButton
        size="sm"
        icon={SquareTerminal}
        label="Put on the terminal's prompt"
        disabledReason={refusal}
        onClick={() => actions.onSend(command)}
      />
    </>
  )
}

interface CommandRowProps {
  logged: LoggedExecution
  /** The devbox takes no commands any more. */
  isOver: boolean
  onOpen: () => void
}

/** One command of the log, closed. */
export const CommandRow = ({ logged, isOver, onOpen }: CommandRowProps) => (
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
          The log does not tell this command: <VisibleText max={80}>{logged.execution_id}</VisibleText>
        </span>
      ) : (
        <VisibleText max={300}>{logged.command}</VisibleText>
      )}
    </span>
    <span className="flex flex-wrap items-center gap-2">
      {logged.source !== 'exec' && <span className="text-sm text-muted">{logged.source}</span>}
      {logged.shell_name && <ShellName>{logged.shell_name}</ShellName>}
      <LoggedTimes logged={logged} />
      <LoggedBadge logged={logged} isOver={isOver} />
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
    {startedMs === null ? 'start not in the log' : <RelativeTime ms={startedMs} />}
    {startedMs !== null && endedMs !== null && <span>took {formatDurationMs(Math.max(0, endedMs - startedMs))}</span>}
  </span>
)

const LoggedBadge = ({ logged: { exit_code }, isOver }: { logged: LoggedExecution; isOver: boolean }) => {
  if (exit_code !== null) return <ExitBadge status={exit_code} />
  return (
    <Badge
      tone={isOver ? 'neutral' : 'progress'}
      icon={isOver ? CircleHelp : Hourglass}
      title="The log tells of no end. Open it to ask the service."
    >
      {isOver ? 'No end known' : 'Not ended'}
    </Badge>
  )
}

const CommandText = ({ command }: { command: string }) =>
  command.split('\n').map((line, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a fixed text
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

const RunBadge = ({ snapshot: { execution, hasEnded, lost } }: { snapshot: CommandSnapshot }) => {
  if (lost !== null)
    return (
      <Badge tone="attention" icon={CircleHelp}>
        Lost
      </Badge>
    )
  if (!hasEnded)
    return (
      <Badge tone="progress" icon={LoaderCircle} busy>
        {execution.status === 'queued' ? 'Queued' : execution.status === 'unknown' ? 'Asking' : 'Running'}
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
      <Check small label="and its process group" checked={wholeGroup} onCheck={setWholeGroup} />
      <Button
        size="sm"
        icon={OctagonX}
        busy={kill.isPending}
        onClick={() => kill.mutate({ run, killProcessGroup: wholeGroup })}
      >
        Kill command
      </Button>
      {kill.error && <InlineError error={kill.error} />}
    </span>
  )
}

'use client'
import { useMutation } from '@tanstack/react-query'
import { CircleCheck, CircleHelp, CircleX, LoaderCircle, OctagonX, RotateCcw, SquareTerminal } from 'lucide-react'
import { useState, useSyncExternalStore } from 'react'
import { Badge } from '#components/ui/badge.tsx'
import { Button } from '#components/ui/button.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { isAway, LiveState } from '#components/ui/live-badge.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { signalName } from '#lib/console/frame/exit-words.ts'
import { formatDurationMs, formatElapsedMs } from '#lib/console/frame/format.ts'
import type { CommandRun, CommandSnapshot } from '#lib/console/live/command-run.ts'
import { transcriptText } from '#lib/console/live/transcript.ts'
import { executionMutations } from '#lib/console/queries/executions.ts'
import { CommandOutput } from './command-output.tsx'

interface CommandCardProps {
  run: CommandRun
  onEdit: (command: string) => void
  onSend: (command: string) => void
}

export const CommandCard = ({ run, onEdit, onSend }: CommandCardProps) => {
  const snapshot = useSyncExternalStore(run.subscribe, run.getSnapshot, run.getSnapshot)
  const isRunning = !snapshot.hasEnded && snapshot.lost === null
  return (
    <article
      aria-label={`Command ${run.command.slice(0, 80)}`}
      className="overflow-hidden rounded-lg border border-line"
    >
      <header className="flex flex-wrap items-start gap-x-3 gap-y-1 bg-surface-1 px-3 py-1.5">
        <code className="max-h-32 min-w-0 flex-1 basis-60 overflow-y-auto py-1 font-mono text-sm whitespace-pre-wrap break-all">
          <span aria-hidden className="mr-2 text-muted select-none">
            $
          </span>
          <CommandText command={run.command} />
        </code>
        <div className="flex flex-wrap items-center gap-2">
          <Elapsed snapshot={snapshot} />
          <span role="status">
            <RunBadge snapshot={snapshot} />
          </span>
          {snapshot.transcript.length > 0 && (
            <CopyButton what="output" text={() => transcriptText(snapshot.transcript)} />
          )}
          {isRunning ? (
            <Kill run={run} />
          ) : (
            <Button size="sm" variant="ghost" icon={RotateCcw} onClick={() => onEdit(run.command)}>
              Edit and run again
            </Button>
          )}
          <IconButton
            size="sm"
            icon={SquareTerminal}
            label="Put on the terminal's prompt"
            onClick={() => onSend(run.command)}
          />
        </div>
      </header>
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
      <CommandOutput transcript={snapshot.transcript} isRunning={isRunning} />
    </article>
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
        {execution.status === 'queued' ? 'Queued' : 'Running'}
      </Badge>
    )
  const status = execution.exit_status
  if (status === 0)
    return (
      <Badge tone="ok" icon={CircleCheck}>
        Exit 0
      </Badge>
    )
  return (
    <Badge tone="danger" icon={CircleX}>
      {status == null ? 'Ended' : exitText(status)}
    </Badge>
  )
}

const exitText = (status: number): string => {
  const signal = signalName(status)
  return signal ? `Exit ${status} (${signal})` : `Exit ${status}`
}

const Kill = ({ run }: { run: CommandRun }) => {
  const [wholeGroup, setWholeGroup] = useState(false)
  const kill = useMutation(executionMutations.kill())
  return (
    <span className="inline-flex flex-wrap items-center gap-2">
      <label className="inline-flex min-h-6 cursor-pointer items-center gap-1.5 text-sm text-muted">
        <input
          type="checkbox"
          className="size-4 accent-(--accent-solid)"
          checked={wholeGroup}
          onChange={({ target }) => setWholeGroup(target.checked)}
        />
        and its process group
      </label>
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

'use client'
import { useMutation } from '@tanstack/react-query'
import { Play, X } from 'lucide-react'
import { type FormEvent, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { devboxExecutions } from '#components/devboxes/log/queries.ts'
import { StyledText } from '#components/devboxes/log/styled-text.tsx'
import { useFollowed } from '#components/devboxes/log/use-followed.ts'
import { useAskTerminals } from '#components/terminal/workspace/use-ask-terminals.ts'
import { Button } from '#components/ui/button.tsx'
import { Check } from '#components/ui/choice/check.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Field, TextField } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { submitOnCtrlEnter, Textarea } from '#components/ui/input.tsx'
import { curlPost } from '#lib/browser/api/curl-post.ts'
import { joinLines, readLines } from '#lib/browser/text/console-text.ts'
import { type Devbox, devboxRefusal } from '#lib/contract/devboxes.ts'
import type { SyncExecution } from '#lib/contract/executions.ts'
import { type CommandActions, ExitBadge } from './command-card.tsx'
import { CommandList } from './command-list.tsx'
import { executionMutations } from './queries.ts'

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
    // What was typed stays if the service refuses it, and what was typed meanwhile in any case.
    const onSuccess = () => setCommand((now) => (now === command ? '' : now))
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
            placeholder="a name keeps its state"
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
              <StyledText spans={joinLines(readLines(result[stream]).lines)} />
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

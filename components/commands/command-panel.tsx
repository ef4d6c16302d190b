'use client'
import { useMutation } from '@tanstack/react-query'
import { Play, X } from 'lucide-react'
import { type FormEvent, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useDevbox } from '#components/devboxes/detail.tsx'
import { StyledText } from '#components/devboxes/log/styled-text.tsx'
import { useDevboxLog } from '#components/devboxes/log/use-devbox-log.tsx'
import { useTerminalRequest } from '#components/terminal/workspace/use-terminal-request.ts'
import { Button } from '#components/ui/button.tsx'
import { Check } from '#components/ui/choice/check.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Field, TextField } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { submitOnCtrlEnter, Textarea } from '#components/ui/input.tsx'
import { curlPost } from '#lib/browser/api/code-samples.ts'
import { joinLines, readLines } from '#lib/browser/text/console-text.ts'
import { devboxRefusal } from '#lib/contract/devboxes.ts'
import type { SyncExecution } from '#lib/contract/executions.ts'
import { type CommandActions, ExitBadge } from './command-card.tsx'
import { CommandList } from './command-list.tsx'
import { devboxExecutions, executionMutations } from './queries.ts'

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
  const refusal = devboxRefusal('execute', devbox.status)
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
    asCurl: (text, shell) => executeCall(serviceUrl, devbox.id, text, shell),
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
          <span className="pb-1.5 text-sm text-muted">or Ctrl+Enter</span>
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
        (result[stream] !== '' || stream === 'stdout') && (
          <div key={stream} className="border-t border-line px-3 py-2">
            <p className="text-sm text-muted">{result[stream] === '' ? 'No output' : stream}</p>
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

const executeCall = (serviceUrl: string, id: string, command: string, shellName: string | null): string =>
  curlPost(
    serviceUrl,
    `/v1/devboxes/${id}/execute_async`,
    JSON.stringify({ command, ...(shellName && { shell_name: shellName }) }),
  )

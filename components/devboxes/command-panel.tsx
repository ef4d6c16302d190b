'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Play } from 'lucide-react'
import { type FormEvent, useLayoutEffect, useRef, useState } from 'react'
import { useAskTerminals } from '#components/terminal/workspace/use-ask-terminals.ts'
import { Button } from '#components/ui/button.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Field } from '#components/ui/field.tsx'
import { submitOnCtrlEnter, Textarea } from '#components/ui/input.tsx'
import { executionMutations, executionQueries } from '#lib/console/queries/executions.ts'
import { type Devbox, devboxRefusal } from '#lib/contract/devboxes.ts'
import { CommandCard } from './command-card.tsx'

/** Runs commands on the devbox and shows what they say while they run. */
export const CommandPanel = ({ devbox }: { devbox: Devbox }) => {
  const box = useRef<HTMLTextAreaElement>(null)
  const [command, setCommand] = useState('')
  const { data: runs } = useQuery(executionQueries.ofThisVisit(devbox.id))
  const execute = useMutation(executionMutations.executeAsync())
  const ask = useAskTerminals(devbox.id)
  const refusal = devboxRefusal('execute', devbox.status)
  // The server draws the field: it may hold what was typed before this code was there.
  useLayoutEffect(() => setCommand(box.current?.value ?? ''), [])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (command.trim() === '' || refusal || execute.isPending) return
    // What was typed stays if the service refuses it.
    execute.mutate({ devboxId: devbox.id, command }, { onSuccess: () => setCommand('') })
  }
  const edit = (text: string) => {
    setCommand(text)
    box.current?.focus()
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
        <div className="flex flex-wrap items-center gap-3">
          <Button
            type="submit"
            variant="primary"
            icon={Play}
            busy={execute.isPending}
            disabledReason={refusal ?? (command.trim() === '' ? 'type a command first' : null)}
          >
            Run command
          </Button>
          <span className="text-sm text-muted">or Ctrl+Enter</span>
        </div>
      </form>
      <section aria-label="Commands of this visit" className="space-y-3">
        {runs.length === 0 ? (
          <p className="py-6 text-center text-muted">
            Commands you run appear here with their output. They are kept until you reload the page.
          </p>
        ) : (
          runs.map((each) => (
            <CommandCard
              key={each.getSnapshot().execution.execution_id}
              run={each}
              onEdit={edit}
              onSend={(text) => ask('prompt', text)}
            />
          ))
        )}
      </section>
    </div>
  )
}

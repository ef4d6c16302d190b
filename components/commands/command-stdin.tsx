'use client'
import { useMutation } from '@tanstack/react-query'
import { CornerDownLeft } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Input } from '#components/ui/input.tsx'
import { executionMutations } from './queries.ts'

/** Speaks to a command that runs. Whether it was started with a standard input, only the service knows. */
export const CommandStdin = ({ devbox_id, execution_id }: { devbox_id: string; execution_id: string }) => {
  const [text, setText] = useState('')
  const send = useMutation(executionMutations.sendStdIn())
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // What was typed meanwhile stays.
    const onSuccess = () => setText((now) => (now === text ? '' : now))
    if (!send.isPending) send.mutate({ devbox_id, execution_id, text: `${text}\n` }, { onSuccess })
  }
  return (
    <form onSubmit={submit} className="flex flex-wrap items-center gap-2 border-t border-line bg-surface-1 px-3 py-1.5">
      <Input
        mono
        aria-label="Standard input"
        placeholder="A line for its standard input"
        className="min-w-40 flex-1"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Button type="submit" size="sm" icon={CornerDownLeft} busy={send.isPending}>
        Send line
      </Button>
      <Button
        size="sm"
        disabledReason={send.isPending ? 'something is being sent' : null}
        onClick={() => send.mutate({ devbox_id, execution_id, signal: 'EOF' })}
      >
        End of input
      </Button>
      <Button
        size="sm"
        disabledReason={send.isPending ? 'something is being sent' : null}
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

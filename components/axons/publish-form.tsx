'use client'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Field, TextField } from '#components/ui/field.tsx'
import { submitOnCtrlEnter, Textarea } from '#components/ui/input.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { formatBytes } from '#lib/browser/format.ts'
import { AxonPublish, maxPayloadBytes, publishedOrigins } from '#lib/contract/axons.ts'
import { fieldProblems } from '#lib/contract/query-string.ts'
import { readPayload } from './event-rows.ts'
import { originLabel } from './origin-labels.ts'
import { axonMutations } from './queries.ts'

const start: AxonPublish = { event_type: '', origin: 'USER_EVENT', source: 'console', payload: '{}' }

/** Keeps its values after publishing, since the next event is often similar. */
export const PublishForm = ({ axonId }: { axonId: string }) => {
  const [event, setEvent] = useState(start)
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({})
  const publish = useMutation(axonMutations.publish())
  const set = (part: Partial<AxonPublish>) => setEvent({ ...event, ...part })
  const submit = (submitted: FormEvent) => {
    submitted.preventDefault()
    if (publish.isPending) return
    const parsed = AxonPublish.safeParse(event)
    const invalid = parsed.success ? [] : fieldProblems(parsed.error)
    setProblems(Object.fromEntries(invalid.map(({ field, message }) => [field, message])))
    if (parsed.success) publish.mutate({ id: axonId, event: parsed.data })
  }
  const bytes = new TextEncoder().encode(event.payload).byteLength
  const rejectedField = problemOf(publish.error).field
  return (
    <form
      onSubmit={submit}
      aria-label="Publish an event"
      className="space-y-3 rounded-md border border-line bg-surface-1 p-3"
    >
      <div className="grid gap-3 sm:grid-cols-3">
        <TextField
          label="Type"
          error={problems.event_type}
          mono
          placeholder="build.finished"
          value={event.event_type}
          onText={(text) => set({ event_type: text })}
        />
        <SelectField
          label="Origin"
          value={event.origin}
          onPick={(picked) => set({ origin: picked })}
          options={publishedOrigins.map((value) => ({ value, label: originLabel(value) }))}
        />
        <TextField
          label="Source"
          error={problems.source}
          mono
          value={event.source}
          onText={(text) => set({ source: text })}
        />
      </div>
      <Field
        label="Payload"
        error={problems.payload}
        hint={`${readPayload(event.payload).kind === 'json' ? 'JSON' : 'Plain text'}, ${formatBytes(bytes)} of ${formatBytes(maxPayloadBytes)}`}
      >
        {(control) => (
          <Textarea
            {...control}
            mono
            rows={5}
            value={event.payload}
            onChange={({ target }) => set({ payload: target.value })}
            onKeyDown={submitOnCtrlEnter}
          />
        )}
      </Field>
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" variant="primary" busy={publish.isPending}>
          Publish event
        </Button>
        <p role="status" className="text-sm text-muted">
          {publish.data && `Published as event ${publish.data.sequence}`}
        </p>
        {publish.error && !(rejectedField && problems[rejectedField]) && <InlineError error={publish.error} />}
      </div>
    </form>
  )
}

'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { BellOff, TriangleAlert, X } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import { rowsToMap } from '#components/ui/key-values.ts'
import { MetadataChips } from '#components/ui/metadata-chips.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { toast } from '#components/ui/toast.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCountOf } from '#lib/browser/format.ts'
import { serviceNow } from '#lib/client/clock.ts'
import { isSilenced } from '#lib/protocol/alerts.ts'
import { useNamed } from './people/own-name.ts'
import { alertMutations, alertQueries } from './queries.ts'
import { coveredBy, missedDeadlines } from './silence-scope.ts'

export const Silences = ({ onAdd }: { onAdd: () => void }) => {
  const { data: feed } = useQuery(alertQueries.feed())
  const end = useMutation({ ...alertMutations.endSilence(), onError: toast.failed("Couldn't end the silence") })
  const named = useNamed()
  const ids = useClock((nowMs) =>
    feed.silences
      .filter(({ until_ms }) => until_ms > nowMs)
      .map(({ id }) => id)
      .join(' '),
  )
  const current = feed.silences.filter(({ id }) => ids.split(' ').includes(id))
  return (
    <section aria-labelledby="silences" className="space-y-2">
      <div className="flex items-center justify-between gap-3">
        <h2 id="silences" className="text-lg font-medium">
          Silences
        </h2>
        <Button size="sm" icon={BellOff} needs="/api/alerts" onClick={onAdd}>
          Add silence
        </Button>
      </div>
      {current.length === 0 && (
        <p className="text-muted">
          None. A silence mutes alerts for devboxes with matching metadata until it expires; they stay listed.
        </p>
      )}
      <ul>
        {current.map((silence) => (
          <li key={silence.id} className="flex items-center gap-3 border-b border-line py-1.5">
            <div className="min-w-0 flex-1 space-y-1">
              <MetadataChips metadata={silence.metadata} />
              <p className="text-sm text-muted">
                {feed.open.filter((alert) => isSilenced(alert, [silence], silence.created_ms)).length} pending silenced
                by <VisibleText max={40}>{silence.by}</VisibleText>, ends <RelativeTime ms={silence.until_ms} />
                {silence.comment && (
                  <>
                    : <VisibleText max={200}>{silence.comment}</VisibleText>
                  </>
                )}
              </p>
            </div>
            <IconButton
              size="sm"
              icon={X}
              label="End silence"
              needs="/api/alerts"
              onClick={() => named(() => end.mutate(silence.id))}
            />
          </li>
        ))}
      </ul>
    </section>
  )
}

const durations = [
  { value: '30', label: '30 minutes' },
  { value: '120', label: '2 hours' },
  { value: '480', label: '8 hours' },
  { value: '1440', label: '24 hours' },
]

export const SilenceDialog = ({ metadata, onClose }: { metadata: Record<string, string>; onClose: () => void }) => {
  const { data: feed } = useQuery(alertQueries.feed())
  const [rows, setRows] = useState(Object.entries(metadata).map(([key, value]) => ({ key, value })))
  const [problem, setProblem] = useState<string | null>(null)
  const [minutes, setMinutes] = useState('120')
  const [comment, setComment] = useState('')
  const silence = useMutation(alertMutations.silence())
  const pairs = rowsToMap(rows)
  const named = useNamed()
  const isAny = pairs.ok && Object.keys(pairs.map).length > 0
  const covered = coveredBy(feed.open, pairs.ok ? pairs.map : {})
  const missed = useClock((nowMs) => missedDeadlines(covered, nowMs, nowMs + Number(minutes) * 60_000).join('\n'))
  const submit = () => {
    const none = pairs.ok && !isAny ? 'Enter at least one key and value' : null
    setProblem(pairs.ok ? none : pairs.message)
    if (!pairs.ok || none) return
    const until_ms = serviceNow() + Number(minutes) * 60_000
    const request = { metadata: pairs.map, until_ms, comment: comment.trim() }
    named(() => silence.mutate(request, { onSuccess: onClose }))
  }
  return (
    <FormDialog
      open
      losesInput
      onOpenChange={onClose}
      title="Silence alerts"
      description="Mutes alerts for devboxes with all of this metadata, in every browser and at every receiver. They stay listed."
      busy={silence.isPending}
      onSubmit={submit}
      needs="/api/alerts"
      submitLabel="Silence alerts"
      error={silence.error}
    >
      <KeyValueEditor label="Metadata" addLabel="Add metadata" value={rows} onChange={setRows} error={problem} />
      <div role="status" className="space-y-1 text-sm">
        <p className="text-muted">
          Covers {covered.length} of {formatCountOf(feed.open.length, 'pending alert')}
        </p>
        {missed !== '' &&
          missed.split('\n').map((line) => (
            <p key={line} className="flex gap-1.5 text-attention">
              <TriangleAlert aria-hidden className="mt-0.5 size-3.5 shrink-0" />
              <span className="min-w-0 break-words">{line}</span>
            </p>
          ))}
      </div>
      <SelectField label="Duration" options={durations} value={minutes} onPick={setMinutes} />
      <TextField label="Comment" optional maxLength={500} value={comment} onText={setComment} />
    </FormDialog>
  )
}

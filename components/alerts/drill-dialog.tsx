'use client'
import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { devboxQueries } from '#components/devboxes/queries.ts'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { toast } from '#components/ui/toast.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCount } from '#lib/browser/format.ts'
import { type Devbox, isOfTrial } from '#lib/contract/devboxes.ts'
import { nameInText } from '#lib/protocol/alerts.ts'
import { alertMutations } from './queries.ts'

const delays = [
  { value: '60', label: 'in 1 minute' },
  { value: '180', label: 'in 3 minutes' },
  { value: '900', label: 'in 15 minutes' },
]

/** Running devboxes except those of trials: suspending one would fail its trial. */
export const drillOptions = (running: readonly Pick<Devbox, 'id' | 'name' | 'initiator_type'>[]) =>
  running
    .filter((devbox) => !isOfTrial(devbox))
    .map(({ id, name }) => ({ value: id, label: name ? `${nameInText(name)} (${id})` : id }))

/** Schedules a real eviction of a running devbox as practice. */
export const DrillDialog = ({ onClose }: { onClose: () => void }) => {
  const query = { status: 'running', origin: 'own', limit: 100, include_total_count: false } as const
  const list = useInfiniteQuery(devboxQueries.list(query))
  const options = drillOptions(list.data?.pages.flatMap((page) => page.devboxes) ?? [])
  const [chosen, setChosen] = useState('')
  const [seconds, setSeconds] = useState('180')
  const drill = useMutation({
    ...alertMutations.startDrill(),
    onSuccess: () => {
      toast.ok('Drill started')
      onClose()
    },
  })
  const devboxId = chosen || options[0]?.value
  return (
    <FormDialog
      open
      onOpenChange={onClose}
      title="Start a drill"
      description="The local service evicts a running devbox for real: at the deadline it is suspended, its processes end and its disk is kept."
      busy={drill.isPending}
      refusal={devboxId ? null : list.isPending ? 'loading devboxes' : 'you have no running devboxes'}
      onSubmit={() => devboxId && drill.mutate({ devbox_id: devboxId, in_seconds: Number(seconds) })}
      needs="/api/alerts"
      submitLabel="Start drill"
      error={drill.error}
    >
      <SelectField
        label="Devbox"
        value={devboxId ?? ''}
        onPick={setChosen}
        options={options}
        hint={
          options.length === 0 && list.isSuccess ? (
            <>
              You have no running devboxes. <TextLink href={paths.devboxes()}>Devboxes</TextLink>
            </>
          ) : (
            list.hasNextPage && `Showing the newest ${formatCount(options.length)}. Trial devboxes are excluded.`
          )
        }
      />
      <SelectField label="Deadline" options={delays} value={seconds} onPick={setSeconds} />
    </FormDialog>
  )
}

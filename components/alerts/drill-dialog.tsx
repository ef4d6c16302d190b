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
import { alertMutations } from '#lib/browser/queries/alerts.ts'
import { type Devbox, isOfTrial } from '#lib/contract/devboxes.ts'
import { nameInText } from '#lib/protocol/alerts.ts'

const delays = [
  { value: '60', label: 'in a minute' },
  { value: '180', label: 'in 3 minutes' },
  { value: '900', label: 'in 15 minutes' },
]

const noneRuns = 'no devbox of yours is running'

/** What can be evicted for practice, the newest first. A trial whose devbox is suspended would be lost for its job. */
export const drillOptions = (running: readonly Pick<Devbox, 'id' | 'name' | 'initiator_type'>[]) =>
  running
    .filter((devbox) => !isOfTrial(devbox))
    .map(({ id, name }) => ({ value: id, label: name ? `${nameInText(name)} (${id})` : id }))

/** Schedules a real eviction of a running devbox, so that people see what happens and practise what to do. */
export const DrillDialog = ({ onClose }: { onClose: () => void }) => {
  const query = { status: 'running', origin: 'own', limit: 100, include_total_count: false } as const
  const list = useInfiniteQuery(devboxQueries.list(query))
  const running = list.data?.pages.flatMap((page) => page.devboxes) ?? []
  const options = drillOptions(running)
  const [chosen, setChosen] = useState('')
  const [seconds, setSeconds] = useState('180')
  const drill = useMutation(alertMutations.startDrill())
  const devboxId = chosen || options[0]?.value
  return (
    <FormDialog
      open
      onOpenChange={onClose}
      title="Start a drill"
      description="The local service evicts a running devbox for real: at the deadline it is suspended, its processes end and its disk stays."
      busy={drill.isPending}
      refusal={devboxId ? null : list.isPending ? 'the devboxes are being read' : noneRuns}
      onSubmit={() =>
        devboxId &&
        drill.mutate(
          { devbox_id: devboxId, in_seconds: Number(seconds) },
          {
            onSuccess: () => {
              toast.ok('Drill started')
              onClose()
            },
          },
        )
      }
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
              No devbox of yours runs. <TextLink href={paths.devboxes()}>Devboxes</TextLink>
            </>
          ) : (
            list.hasNextPage &&
            `Only the newest ${formatCount(options.length)} running devboxes, without trial devboxes.`
          )
        }
      />
      <SelectField label="Deadline" options={delays} value={seconds} onPick={setSeconds} />
    </FormDialog>
  )
}

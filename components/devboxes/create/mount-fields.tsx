'use client'
import { useQuery } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { useController } from 'react-hook-form'
import { Button } from '#components/ui/button.tsx'
import { FieldError } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Input } from '#components/ui/input.tsx'
import { Select } from '#components/ui/select.tsx'
import { FieldGroup } from './form-fields.tsx'
import type { DevboxFormValues, MountRow } from './form-schema.ts'
import { mountQueries } from './mount-queries.ts'

/** Hidden if the service has nothing to mount. */
export const MountFields = () => {
  const { field, fieldState } = useController<DevboxFormValues, 'mounts'>({ name: 'mounts' })
  const objects = useQuery(mountQueries.objects())
  const agents = useQuery(mountQueries.agents())
  const rows: MountRow[] = field.value
  const choices = { object_mount: objects.data ?? [], agent_mount: agents.data ?? [] }
  if (rows.length === 0 && Object.values(choices).every(({ length }) => length === 0)) return null
  const change = (at: number, part: Partial<MountRow>) =>
    field.onChange(rows.map((row, index) => (index === at ? { ...row, ...part } : row)))
  return (
    <FieldGroup title="Objects and agents" fields={['mounts']}>
      <fieldset className="min-w-0 space-y-2">
        <legend className="mb-1 font-medium">Mounts</legend>
        {rows.map((row, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows are edited in place and have no other identity
          <div key={at} className="flex flex-wrap items-center gap-1.5">
            <Select
              aria-label={`${nouns[row.type]} of mount ${at + 1}`}
              className="min-w-0 flex-1 basis-48"
              value={row.id}
              onChange={({ target }) => change(at, { id: target.value })}
              options={[
                { value: '', label: `Select an ${nouns[row.type].toLowerCase()}` },
                ...(row.id === '' || choices[row.type].some(({ value }) => value === row.id)
                  ? []
                  : [{ value: row.id, label: row.id }]),
                ...choices[row.type],
              ]}
            />
            <span className="min-w-0 flex-1 basis-48">
              <Input
                mono
                aria-label={`Path of mount ${at + 1}`}
                placeholder={row.type === 'object_mount' ? '~/data.tgz' : 'Default path of the agent'}
                value={row.path}
                onChange={({ target }) => change(at, { path: target.value })}
              />
            </span>
            <IconButton
              size="sm"
              icon={X}
              label={`Remove mount ${at + 1}`}
              onClick={() => field.onChange(rows.filter((_, index) => index !== at))}
            />
          </div>
        ))}
        {fieldState.error && <FieldError>{fieldState.error.message}</FieldError>}
        <div className="flex flex-wrap gap-2">
          {(['object_mount', 'agent_mount'] as const)
            .filter((type) => choices[type].length > 0)
            .map((type) => (
              <Button
                key={type}
                size="sm"
                icon={Plus}
                onClick={() => field.onChange([...rows, { type, id: '', path: '' }])}
              >
                {`Add ${nouns[type].toLowerCase()}`}
              </Button>
            ))}
        </div>
      </fieldset>
    </FieldGroup>
  )
}

const nouns = { object_mount: 'Object', agent_mount: 'Agent' } as const

'use client'
import { useQuery } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { useController } from 'react-hook-form'
import { Button } from '#components/ui/button.tsx'
import { FieldError } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Input } from '#components/ui/input.tsx'
import { ChoiceField } from './choice-field.tsx'
import { choiceQueries } from './choice-queries.ts'
import { FieldGroup } from './form-fields.tsx'
import type { DevboxFormValues, MountRow } from './form-schema.ts'

/** Hidden if the service has nothing to mount. */
export const MountFields = () => {
  const { field, fieldState } = useController<DevboxFormValues, 'mounts'>({ name: 'mounts' })
  const objects = useQuery(choiceQueries.objects(''))
  const agents = useQuery(choiceQueries.agents(''))
  const rows: MountRow[] = field.value
  const choices = { object_mount: objects.data?.rows ?? [], agent_mount: agents.data?.rows ?? [] }
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
            <ChoiceField
              isCell
              label={`${nouns[row.type]} of mount ${at + 1}`}
              query={row.type === 'object_mount' ? choiceQueries.objects : choiceQueries.agents}
              value={row.id}
              onPick={(id) => change(at, { id })}
              empty={`Select an ${nouns[row.type].toLowerCase()}`}
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

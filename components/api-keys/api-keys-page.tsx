'use client'
import { useState } from 'react'
import { CodeSample } from '#components/layout/code-samples.tsx'
import { useSupport } from '#components/settings/support-queries.ts'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { CommandBlock } from '#components/ui/command-block.tsx'
import { TextField } from '#components/ui/field.tsx'
import { Section } from '#components/ui/section.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { resourceTypes } from '#lib/contract/keys.ts'
import { type Access, keyCall, resourceLabel } from './key-call.ts'

/** Writes the request for a new key. The console itself never receives a key, so nothing here shows one. */
export const ApiKeysPage = ({ serviceUrl, isEmbedded }: { serviceUrl: string; isEmbedded: boolean }) => {
  const canCreate = useSupport('keys.create') !== 'no'
  const canRestrict = useSupport('keys.createRestricted') !== 'no'
  return (
    <div className="max-w-3xl space-y-8">
      {canCreate || canRestrict ? (
        <RequestForm serviceUrl={serviceUrl} canCreate={canCreate} canRestrict={canRestrict} />
      ) : (
        <p className="text-muted">This service doesn't offer API keys through its API.</p>
      )}
      <Section title="List and revoke keys">
        {isEmbedded ? (
          <>
            <p className="max-w-prose">
              On the host of this console. A revoked key stops working immediately; keys created with it are revoked
              too.
            </p>
            <CommandBlock label="command to list keys" command="npm run service -- keys list" />
            <CommandBlock label="command to revoke a key" command="npm run service -- keys revoke KEY_ID" />
          </>
        ) : (
          <p className="max-w-prose text-muted">The API can't list keys. Revoke keys where the service manages them.</p>
        )}
      </Section>
    </div>
  )
}

interface RequestFormProps {
  serviceUrl: string
  canCreate: boolean
  canRestrict: boolean
}

const hourMs = 60 * 60 * 1000

const lifetimes = [
  { value: '', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 1 year' },
] as const

const accessOptions: readonly { value: Access; label: string }[] = [
  { value: 'ACCESS_LEVEL_NONE', label: 'None' },
  { value: 'ACCESS_LEVEL_READ', label: 'Read' },
  { value: 'ACCESS_LEVEL_WRITE', label: 'Read and write' },
]

const RequestForm = ({ serviceUrl, canCreate, canRestrict }: RequestFormProps) => {
  const [name, setName] = useState('ci')
  const [days, setDays] = useState<(typeof lifetimes)[number]['value']>('90')
  const [scope, setScope] = useState<'all' | 'restricted'>(canCreate ? 'all' : 'restricted')
  const [access, setAccess] = useState<Readonly<Record<string, Access>>>({
    RESOURCE_TYPE_DEVBOXES: 'ACCESS_LEVEL_READ',
  })
  const nowMs = useClock((ms) => Math.floor(ms / hourMs) * hourMs)
  const call = keyCall({ name, days: Number(days), access: scope === 'restricted' ? access : null, nowMs })
  return (
    <Section title="Create a key">
      <p className="max-w-prose">
        API keys never reach this page. Run the request yourself, with a key that may create others in DEVDECK_API_KEY;
        the response shows the new key once.
      </p>
      <div className="grid gap-4 sm:grid-cols-3">
        <TextField label="Name" value={name} maxLength={100} onText={setName} />
        <SelectField label="Expires" value={days} options={lifetimes} onPick={setDays} />
        <SelectField
          label="Access"
          value={scope}
          options={[
            ...(canCreate ? [{ value: 'all', label: 'Everything' } as const] : []),
            ...(canRestrict ? [{ value: 'restricted', label: 'Restricted' } as const] : []),
          ]}
          onPick={setScope}
        />
      </div>
      {scope === 'restricted' && (
        <fieldset className="grid gap-4 sm:grid-cols-4">
          <legend className="mb-2 font-medium">Access by resource</legend>
          {resourceTypes.map((type) => (
            <SelectField
              key={type}
              label={resourceLabel(type)}
              value={access[type] ?? 'ACCESS_LEVEL_NONE'}
              options={accessOptions}
              onPick={(level) => setAccess({ ...access, [type]: level })}
            />
          ))}
        </fieldset>
      )}
      <CodeSample serviceUrl={serviceUrl} call={call} />
    </Section>
  )
}

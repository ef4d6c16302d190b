'use client'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { TextField } from '#components/ui/field.tsx'
import { defaultKeepAliveSeconds } from '#lib/contract/launch-parameters.ts'
import type { DraftFieldsProps } from './devbox-draft.ts'
import { FieldGroup } from './field-group.tsx'

export const LifetimeFields = ({ draft, edit, errorAt }: DraftFieldsProps) => (
  <FieldGroup
    title="Lifetime"
    filled={draft.keepAlive !== '' || draft.idle !== ''}
    hasError={Boolean(errorAt('keepAlive') || errorAt('idleSeconds'))}
  >
    <TextField
      label="Keep-alive time in seconds"
      optional
      hint={`Shut down after this long, and the disk deleted; ${defaultKeepAliveSeconds} when empty, none beside an idle rule`}
      error={errorAt('keepAlive')}
      inputMode="numeric"
      value={draft.keepAlive}
      placeholder={String(defaultKeepAliveSeconds)}
      onText={(keepAlive) => edit({ keepAlive })}
    />
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label="When idle"
        value={draft.idle}
        onPick={(picked) => edit({ idle: picked })}
        options={idleOptions}
      />
      {draft.idle !== '' && (
        <TextField
          label="Idle for seconds"
          inputMode="numeric"
          placeholder="900"
          error={errorAt('idleSeconds')}
          value={draft.idleSeconds}
          onText={(idleSeconds) => edit({ idleSeconds })}
        />
      )}
    </div>
  </FieldGroup>
)

const idleOptions = [
  { value: '', label: 'Nothing happens' },
  { value: 'suspend', label: 'Suspend it: the disk stays' },
  { value: 'shutdown', label: 'Shut it down: the disk goes' },
] as const

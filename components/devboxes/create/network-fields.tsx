'use client'
import { useQuery } from '@tanstack/react-query'
import { networkPolicyQueries } from '#components/devboxes/network-policies.ts'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { TextField } from '#components/ui/field.tsx'
import { tunnelModes } from '#lib/contract/tunnels.ts'
import { tunnelModeWords } from '../tunnel-words.ts'
import type { DraftFieldsProps } from './devbox-draft.ts'
import { FieldGroup } from './field-group.tsx'

export const NetworkFields = ({ draft, edit, errorAt }: DraftFieldsProps) => {
  const policies = useQuery({ ...networkPolicyQueries.offered(), retry: false })
  const offered = policies.data?.network_policies ?? []
  const isListed = draft.networkPolicy === '' || offered.some(({ id }) => id === draft.networkPolicy)
  return (
    <FieldGroup
      title="Network"
      filled={draft.tunnel !== '' || draft.networkPolicy !== ''}
      hasError={Boolean(errorAt('tunnel') || errorAt('networkPolicy'))}
    >
      <SelectField
        label="Tunnel"
        hint="Opens ports of the devbox to the network of the service"
        error={errorAt('tunnel')}
        value={draft.tunnel}
        onPick={(picked) => edit({ tunnel: picked })}
        options={[
          { value: '', label: 'None' },
          ...tunnelModes.map((value) => ({ value, label: tunnelModeWords[value] })),
        ]}
      />
      {policies.isError ? (
        <TextField
          label="Network policy"
          optional
          mono
          hint="The policies could not be read; type the id of one"
          error={errorAt('networkPolicy')}
          value={draft.networkPolicy}
          onText={(networkPolicy) => edit({ networkPolicy })}
        />
      ) : (
        <SelectField
          label="Network policy"
          hint="What the devbox may reach"
          error={errorAt('networkPolicy')}
          value={draft.networkPolicy}
          onPick={(picked) => edit({ networkPolicy: picked })}
          options={[
            { value: '', label: offered.length > 0 ? 'None' : 'None: the account has no policy' },
            ...(isListed ? [] : [{ value: draft.networkPolicy, label: draft.networkPolicy }]),
            ...offered.map(({ id, name }) => ({ value: id, label: name })),
          ]}
        />
      )}
    </FieldGroup>
  )
}

'use client'
import { useWatch } from 'react-hook-form'
import {
  FormCheckField,
  FormRowsField,
  FormSelectField,
  FormTextareaField,
  FormTextField,
} from '#components/record/form-controls.tsx'
import { useRequestForm } from '#components/record/use-request-form.ts'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import type { KeyValueRow } from '#components/ui/key-values.ts'
import { toast } from '#components/ui/toast.tsx'
import { type NetworkPolicy, NetworkPolicyCreate } from '#lib/contract/network-policies.ts'
import { policyMutations } from './queries.ts'
import { cidrRows, flagLabels, parsePorts } from './rules.ts'

interface PolicyValues {
  name: string
  description: string
  access: string
  hostnames: string
  cidrs: KeyValueRow[]
  allow_devbox_to_devbox: boolean
  allow_agent_gateway: boolean
  allow_mcp_gateway: boolean
  allow_runloop_mirrors: boolean
}

const valuesOf = (policy: NetworkPolicy | undefined): PolicyValues => ({
  name: policy?.name ?? '',
  description: policy?.description ?? '',
  access: policy?.egress.allow_all ? 'all' : 'listed',
  hostnames: (policy?.egress.allowed_hostnames ?? []).join('\n'),
  cidrs: cidrRows(policy?.egress.allowed_cidrs ?? []),
  allow_devbox_to_devbox: policy?.egress.allow_devbox_to_devbox ?? false,
  allow_agent_gateway: policy?.egress.allow_agent_gateway ?? false,
  allow_mcp_gateway: policy?.egress.allow_mcp_gateway ?? false,
  allow_runloop_mirrors: policy?.egress.allow_runloop_mirrors ?? false,
})

const toRequest = (
  { access, hostnames, cidrs, name, description, ...flags }: PolicyValues,
  fail: (field: keyof PolicyValues, message: string) => void,
) => ({
  ...flags,
  name: name.trim(),
  description: description.trim(),
  allow_all: access === 'all',
  allowed_hostnames: hostnames.split(/[\s,]+/).filter((host) => host !== ''),
  allowed_cidrs: cidrs
    .filter(({ key, value }) => key.trim() !== '' || value.trim() !== '')
    .map(({ key, value }) => {
      const ports = parsePorts(value)
      if (!ports) fail('cidrs', `${value} is not a list of ports such as 443, 8000-8100/tcp`)
      return { cidr: key.trim(), ...(ports?.length && { ports }) }
    }),
})

const fieldOf = (path: string): keyof PolicyValues | undefined => {
  const [first = ''] = path.split(/[.[]/)
  if (first === 'allowed_hostnames') return 'hostnames'
  if (first === 'allowed_cidrs') return 'cidrs'
  return first === 'name' || first === 'description' ? first : undefined
}

/** Creates a policy or edits one. Mount on open. */
export const PolicyDialog = ({ policy, onClose }: { policy?: NetworkPolicy; onClose: () => void }) => {
  const { control, ...form } = useRequestForm<PolicyValues, NetworkPolicyCreate, NetworkPolicy>({
    toRequest,
    schema: NetworkPolicyCreate,
    fieldOf,
    defaults: valuesOf(policy),
    mutation: policy ? policyMutations.update(policy.id) : policyMutations.create(),
    onSaved: () => {
      onClose()
      toast.ok(policy ? 'Network policy saved' : 'Network policy created')
    },
  })
  const access = useWatch({ control, name: 'access' })
  return (
    <FormDialog
      open
      onOpenChange={onClose}
      title={policy ? 'Edit network policy' : 'Create network policy'}
      description="Limits what devboxes and builds can connect to."
      losesInput
      busy={form.busy}
      onSubmit={form.submit}
      needs={policy ? 'networkPolicies.update' : 'networkPolicies.create'}
      submitLabel={policy ? 'Save changes' : 'Create network policy'}
      error={form.error}
    >
      <FormTextField control={control} name="name" label="Name" placeholder="registries-only" />
      <FormTextField control={control} name="description" label="Description" optional />
      <FormSelectField
        control={control}
        name="access"
        label="Outgoing connections"
        options={[
          { value: 'listed', label: 'Only those listed here' },
          { value: 'all', label: 'All' },
        ]}
      />
      {access === 'listed' && (
        <>
          <FormTextareaField
            control={control}
            name="hostnames"
            label="Host names"
            optional
            mono
            rows={4}
            placeholder={'github.com\n*.npmjs.org'}
            hint="One per line. * stands for any subdomain."
          />
          <FormRowsField
            control={control}
            name="cidrs"
            label="IP ranges and ports"
            addLabel="Add IP range"
            keyPlaceholder="10.12.0.0/16"
            valuePlaceholder="443, 8000-8100/tcp"
            hint="All ports if none are given"
          />
          <fieldset>
            <legend className="mb-1 font-medium">Also allow</legend>
            {Object.entries(flagLabels).map(([name, label]) => (
              <FormCheckField key={name} control={control} name={name as keyof typeof flagLabels} label={label} />
            ))}
          </fieldset>
        </>
      )}
    </FormDialog>
  )
}

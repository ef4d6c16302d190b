'use client'
import { useQuery } from '@tanstack/react-query'
import { useWatch } from 'react-hook-form'
import { choiceQueries } from '#components/devboxes/create/choice-queries.ts'
import { FormSelectField, FormTextareaField, FormTextField } from '#components/record/form-controls.tsx'
import { useRequestForm } from '#components/record/use-request-form.ts'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { toast } from '#components/ui/toast.tsx'
import { type Agent, AgentCreate, type AgentSource } from '#lib/contract/agents.ts'
import { agentMutations } from './queries.ts'
import { sourceWords } from './source.ts'

interface AgentValues {
  name: string
  version: string
  type: AgentSource['type']
  /** Package, repository or object. */
  target: string
  /** Version of the package, or Git reference. */
  revision: string
  registry: string
  setup: string
}

const toRequest = ({ name, version, type, target, revision, registry, setup }: AgentValues) => {
  const commands = setup.split('\n').filter((line) => line.trim() !== '')
  const common = commands.length > 0 ? { agent_setup: commands } : {}
  const optional = (key: string, value: string) => (value.trim() ? { [key]: value.trim() } : {})
  const details = {
    npm: { package_name: target.trim(), ...optional('npm_version', revision), ...optional('registry_url', registry) },
    pip: { package_name: target.trim(), ...optional('pip_version', revision), ...optional('registry_url', registry) },
    git: { repository: target.trim(), ...optional('ref', revision) },
    object: { object_id: target },
  }[type]
  return {
    name: name.trim(),
    ...optional('version', version),
    source: { type, [type]: { ...details, ...common } },
  }
}

const fieldOf = (path: string): keyof AgentValues | undefined => {
  if (path === 'name' || path === 'version') return path
  if (/\.(package_name|repository|object_id)$/.test(path)) return 'target'
  if (/\.(npm_version|pip_version|ref)$/.test(path)) return 'revision'
  return /\.registry_url$/.test(path) ? 'registry' : undefined
}

/** Mount on open. */
export const AgentDialog = ({ onClose }: { onClose: () => void }) => {
  const { control, ...form } = useRequestForm<AgentValues, AgentCreate, Agent>({
    toRequest: (values, fail) => {
      if (values.type === 'object' && values.target === '') fail('target', 'Select an object')
      return toRequest(values)
    },
    schema: AgentCreate,
    fieldOf,
    defaults: { name: '', version: '', type: 'npm', target: '', revision: '', registry: '', setup: '' },
    mutation: agentMutations.create(),
    onSaved: () => {
      onClose()
      toast.ok('Agent created')
    },
  })
  const type = useWatch({ control, name: 'type' })
  const isPackage = type === 'npm' || type === 'pip'
  return (
    <FormDialog
      open
      onOpenChange={onClose}
      title="Create agent"
      description="An agent is software that is installed in devboxes that mount it."
      losesInput
      busy={form.busy}
      onSubmit={form.submit}
      needs="agents.create"
      submitLabel="Create agent"
      error={form.error}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <FormTextField control={control} name="name" label="Name" placeholder="reviewer" />
        <FormTextField control={control} name="version" label="Version" optional mono placeholder="1.4.0" />
      </div>
      <FormSelectField
        control={control}
        name="type"
        label="Source"
        options={Object.entries(sourceWords).map(([value, label]) => ({ value, label }))}
      />
      {type === 'object' ? (
        <ObjectField control={control} />
      ) : (
        <div className="grid gap-4 sm:grid-cols-2">
          <FormTextField
            control={control}
            name="target"
            label={isPackage ? 'Package' : 'Repository'}
            mono
            placeholder={isPackage ? '@acme/agent' : 'https://github.com/acme/agent'}
          />
          <FormTextField
            control={control}
            name="revision"
            label={isPackage ? 'Package version' : 'Branch, tag or commit'}
            optional
            mono
          />
        </div>
      )}
      {isPackage && (
        <FormTextField
          control={control}
          name="registry"
          label="Registry"
          optional
          mono
          placeholder="https://registry.example.com"
        />
      )}
      <FormTextareaField
        control={control}
        name="setup"
        label="Setup commands"
        optional
        mono
        hint="One per line. Run after the agent is installed."
      />
    </FormDialog>
  )
}

type Control = ReturnType<typeof useRequestForm<AgentValues, AgentCreate, Agent>>['control']

/** A list to choose from, or a text field where the service has no list. */
const ObjectField = ({ control }: { control: Control }) => {
  const { data, isError } = useQuery(choiceQueries.objects(''))
  if (isError) return <FormTextField control={control} name="target" label="Object ID" mono />
  return (
    <FormSelectField
      control={control}
      name="target"
      label="Object"
      hint="An archive of the agent"
      options={[
        { value: '', label: !data ? 'Loading' : data.rows.length > 0 ? 'Select an object' : 'None available' },
        ...(data?.rows.map(({ id, name }) => ({ value: id, label: name })) ?? []),
      ]}
    />
  )
}

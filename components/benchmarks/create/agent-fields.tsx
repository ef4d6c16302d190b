'use client'
import { useQuery } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { type ComponentProps, useId } from 'react'
import { Controller, useController, useFieldArray, useFormContext } from 'react-hook-form'
import { Button } from '#components/ui/button.tsx'
import { Field, TextField } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Textarea } from '#components/ui/input.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import { benchmarkRunQueries } from '../run/queries.ts'
import { type JobField, type JobFormValues, newAgent } from './job-form.ts'
import { jobPartQueries } from './queries.ts'

interface FormTextFieldProps extends Omit<ComponentProps<typeof TextField>, 'value' | 'onText' | 'error' | 'name'> {
  name: JobField
}

export const FormTextField = ({ name, ...props }: FormTextFieldProps) => {
  const { field, fieldState } = useController<JobFormValues>({ name })
  return (
    <TextField
      {...props}
      ref={field.ref}
      value={field.value as string}
      onText={field.onChange}
      onBlur={field.onBlur}
      error={fieldState.error?.message}
    />
  )
}

/** Suggestions; the service decides which agents it knows. */
const publicNames = ['claude-code', 'codex', 'gemini-cli', 'goose', 'opencode']

const editors = {
  variables: { label: 'Environment variables', addLabel: 'Add variable', keyPlaceholder: 'NAME' },
  secrets: {
    label: 'Secrets',
    addLabel: 'Add secret',
    keyPlaceholder: 'VARIABLE',
    valuePlaceholder: 'Secret name',
  },
}

export const AgentFields = () => {
  const id = useId()
  const { control } = useFormContext<JobFormValues>()
  const { fields, append, remove } = useFieldArray({ control, name: 'agents' })
  const { data: secretNames = [] } = useQuery(jobPartQueries.secretNames())
  const { data: origins = {} } = useQuery(benchmarkRunQueries.origins())
  const known = Object.values(origins)
  return (
    <div className="space-y-3">
      <datalist id={`${id}-names`}>
        {[...new Set(['nop', ...publicNames, ...known.map(({ agent_name }) => agent_name)])].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <datalist id={`${id}-models`}>
        {[...new Set(known.flatMap(({ model_name }) => model_name ?? []))].map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
      {fields.map((agent, index) => (
        <fieldset key={agent.id} className="min-w-0 space-y-3 rounded-md border border-line p-3">
          <legend className="px-1 font-medium">Agent {index + 1}</legend>
          <div className="grid gap-3 sm:grid-cols-[1fr_1fr_8rem_auto]">
            <FormTextField name={`agents.${index}.name`} label="Agent name" list={`${id}-names`} />
            <FormTextField name={`agents.${index}.model`} label="Model" optional list={`${id}-models`} />
            <FormTextField
              name={`agents.${index}.timeout`}
              label="Timeout (s)"
              optional
              inputMode="numeric"
              placeholder="7200"
            />
            {fields.length > 1 && (
              <IconButton
                icon={X}
                label={`Remove agent ${index + 1}`}
                className="sm:mt-6"
                onClick={() => remove(index)}
              />
            )}
          </div>
          <Controller
            control={control}
            name={`agents.${index}.command`}
            render={({ field, fieldState }) => (
              <Field
                label="Command"
                optional
                hint="Runs with bash in each scenario's devbox. The task is in the file $HARBOR_INSTRUCTION_FILE, the model in $HARBOR_MODEL_NAME. Not needed for nop and agents known to the service."
                error={fieldState.error?.message}
              >
                {(props) => <Textarea {...props} {...field} mono rows={2} />}
              </Field>
            )}
          />
          {(['variables', 'secrets'] as const).map((kind) => (
            <Controller
              key={kind}
              control={control}
              name={`agents.${index}.${kind}`}
              render={({ field, fieldState }) => (
                <KeyValueEditor
                  {...editors[kind]}
                  {...(kind === 'secrets' && {
                    valueSuggestions: secretNames,
                    hint: secretNames.length === 0 ? 'This account has no secrets.' : 'Sets a variable to a secret.',
                  })}
                  value={field.value}
                  onChange={field.onChange}
                  error={fieldState.error?.message}
                />
              )}
            />
          ))}
        </fieldset>
      ))}
      <Button size="sm" icon={Plus} onClick={() => append(newAgent)}>
        Add agent
      </Button>
    </div>
  )
}

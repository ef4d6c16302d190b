'use client'
import { zodResolver } from '@hookform/resolvers/zod'
import { useMutation, useQuery } from '@tanstack/react-query'
import { FileText } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useEffect, useRef } from 'react'
import { type Control, Controller, FormProvider, useForm, useWatch } from 'react-hook-form'
import { jobPartQueries } from '#components/benchmarks/create/queries.ts'
import { FieldGroup, FormRows, FormText } from '#components/devboxes/create/form-fields.tsx'
import { moreLaunchFields } from '#components/devboxes/create/form-schema.ts'
import {
  CustomSizeFields,
  FileRows,
  KeepAliveFields,
  LaunchCommandsField,
  MoreLaunchFields,
  NetworkPolicyField,
  OtherParameters,
  SizeField,
} from '#components/devboxes/create/form-sections.tsx'
import { Button } from '#components/ui/button.tsx'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { CommandBlock } from '#components/ui/command-block.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Field } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import { NumberedTextarea } from '#components/ui/numbered-textarea.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { formatCountOf } from '#lib/browser/format.ts'
import type { Blueprint, BlueprintCreate } from '#lib/contract/blueprints.ts'
import { BlueprintPicker } from '../blueprint-picker.tsx'
import { lineNumberIn } from '../line-number.ts'
import { blueprintMutations, blueprintQueries } from '../queries.ts'
import { withoutCredentials } from '../without-credentials.ts'
import {
  BlueprintForm,
  type BlueprintFormValues,
  blueprintFieldOf,
  blueprintValuesLike,
  emptyBlueprint,
} from './form-schema.ts'

interface CreateBlueprintDialogProps {
  open: boolean
  onOpenChange: (open: boolean) => void
  like?: Blueprint
}

/** Keeps its values when it is closed or the request fails, until a blueprint is created. */
export const CreateBlueprintDialog = ({ open, onOpenChange, like }: CreateBlueprintDialogProps) => {
  const router = useRouter()
  const form = useForm<BlueprintFormValues, unknown, BlueprintCreate>({
    resolver: zodResolver(BlueprintForm),
    defaultValues: like ? blueprintValuesLike(like) : emptyBlueprint,
  })
  const create = useMutation(blueprintMutations.create())
  const preview = useMutation(blueprintMutations.preview())
  const resetPreview = preview.reset
  useEffect(() => form.subscribe({ formState: { values: true }, callback: () => resetPreview() }), [form, resetPreview])
  const isOpen = useRef(open)
  useEffect(() => {
    isOpen.current = open
  }, [open])
  const showAtField = (error: Error) => {
    const { field, message } = problemOf(error)
    const name = blueprintFieldOf(field ?? '')
    if (name) form.setError(name, { message }, { shouldFocus: true })
  }
  const elsewhere = (error: Error | null) => (error && !blueprintFieldOf(problemOf(error).field ?? '') ? error : null)
  const submit = form.handleSubmit((body) =>
    create.mutate(body, {
      onError: showAtField,
      onSuccess: ({ id }) => {
        form.reset(emptyBlueprint)
        const openLog = () => router.push(paths.blueprint(id, 'log'))
        // After closing the dialog, the user may be on another page.
        if (!isOpen.current)
          return void toast.ok('Blueprint created', { action: { label: 'View build log', onClick: openLog } })
        onOpenChange(false)
        openLog()
      },
    }),
  )
  const showPreview = form.handleSubmit((body) => preview.mutate(body, { onError: showAtField }))
  return (
    <FormDialog
      open={open}
      onOpenChange={onOpenChange}
      title={like ? 'Edit and rebuild' : 'Create blueprint'}
      description={
        like ? (
          <>
            Builds a new blueprint from the parameters of <VisibleText max={80}>{like.name}</VisibleText>. The existing
            one stays.
          </>
        ) : (
          'Builds a disk image from a Dockerfile, from commands, or both. Devboxes can be created from it.'
        )
      }
      size="lg"
      losesInput={like !== undefined}
      busy={create.isPending}
      onSubmit={() => void submit()}
      needs="blueprints.create"
      submitLabel={like ? 'Build blueprint' : 'Create blueprint'}
      error={elsewhere(create.error)}
    >
      <FormProvider {...form}>
        <FormText
          name="name"
          label="Name"
          placeholder="node-22"
          hint="Several builds can share a name. Devboxes created by name use the newest that is ready."
        />
        <BaseFields control={form.control} />
        <DockerfileField control={form.control} />
        <SetupCommandsField control={form.control} />
        <FieldGroup title="Files" fields={['files']}>
          <FileRows hint="Written before the setup commands run" />
        </FieldGroup>
        <BuildInputs control={form.control} />
        <FieldGroup
          title="Launch parameters of its devboxes"
          fields={[
            'size',
            'cpuCores',
            'memoryGb',
            'diskGb',
            'launchCommands',
            'keepAlive',
            'idle',
            'idleSeconds',
            'networkPolicy',
            ...moreLaunchFields,
          ]}
        >
          <SizeField />
          <CustomSizeFields />
          <LaunchCommandsField />
          <KeepAliveFields />
          <NetworkPolicyField />
          <MoreLaunchFields title="More launch parameters" />
        </FieldGroup>
        <MetadataField />
        <OtherBuildParameters control={form.control} onRemove={() => form.setValue('otherBuild', {})} />
        <div className="space-y-2">
          <Button size="sm" icon={FileText} busy={preview.isPending} onClick={() => void showPreview()}>
            Preview resulting Dockerfile
          </Button>
          {elsewhere(preview.error) && <InlineError error={preview.error} />}
          {preview.data && (
            <CommandBlock
              label="Dockerfile"
              className="max-h-72 overflow-auto"
              command={preview.data.dockerfile.trimEnd()}
            />
          )}
        </div>
      </FormProvider>
    </FormDialog>
  )
}

type FormControl = Control<BlueprintFormValues, unknown, BlueprintCreate>

const BaseFields = ({ control }: { control: FormControl }) => {
  const base = useWatch({ control, name: 'base' })
  return (
    <>
      <Controller
        control={control}
        name="base"
        render={({ field }) => (
          <SelectField
            label="Base"
            value={field.value}
            onPick={field.onChange}
            options={[
              { value: 'default', label: 'Service default, or FROM in the Dockerfile' },
              { value: 'blueprint', label: 'Another blueprint' },
            ]}
          />
        )}
      />
      {base === 'blueprint' && (
        <Controller
          control={control}
          name="baseBlueprint"
          render={({ field, fieldState }) => (
            <BlueprintPicker
              label="Base blueprint"
              value={field.value}
              onPick={field.onChange}
              error={fieldState.error?.message}
            />
          )}
        />
      )}
    </>
  )
}

/** Marks the line that an error names. */
const DockerfileField = ({ control }: { control: FormControl }) => (
  <Controller
    control={control}
    name="dockerfile"
    render={({ field, fieldState }) => {
      const line = lineNumberIn(fieldState.error?.message)
      return (
        <Field
          label="Dockerfile"
          optional
          hint="Tab indents. To leave the editor, press Escape, then Tab."
          error={fieldState.error?.message}
        >
          {(a11y) => (
            <NumberedTextarea
              invalidLines={new Set(line ? [line] : [])}
              {...a11y}
              ref={field.ref}
              indents
              rows={10}
              placeholder={'FROM debian:bookworm\nRUN apt-get update && apt-get install -y git'}
              value={field.value}
              onText={field.onChange}
            />
          )}
        </Field>
      )
    }}
  />
)

const SetupCommandsField = ({ control }: { control: FormControl }) => {
  const kept = useWatch({ control, name: 'otherBuild' }).system_setup_commands ?? []
  return (
    <Controller
      control={control}
      name="setupCommands"
      render={({ field, fieldState }) => (
        <Field
          label="Setup commands"
          optional
          hint={
            kept.length > 0
              ? `Keeps the ${formatCountOf(kept.length, 'command')} under Other parameters, as some have line breaks. Commands entered here replace them.`
              : 'One per line, run in order after the Dockerfile. End a line in \\ to continue it.'
          }
          error={fieldState.error?.message}
        >
          {(a11y) => (
            <NumberedTextarea
              {...a11y}
              ref={field.ref}
              rows={5}
              placeholder="npm install --global pnpm"
              value={field.value}
              onText={field.onChange}
            />
          )}
        </Field>
      )}
    />
  )
}

const BuildInputs = ({ control }: { control: FormControl }) => {
  const secrets = useQuery({ ...jobPartQueries.secretNames(), retry: false })
  return (
    <FieldGroup title="Build secrets and arguments" fields={['secrets']}>
      <Controller
        control={control}
        name="buildArguments"
        render={({ field, fieldState }) => (
          <KeyValueEditor
            label="Build arguments"
            addLabel="Add argument"
            keyPlaceholder="NAME"
            hint="Values of ARG in the Dockerfile"
            value={field.value}
            onChange={field.onChange}
            error={fieldState.error?.message}
          />
        )}
      />
      <FormRows
        name="secrets"
        label="Secrets"
        addLabel="Add secret"
        keyPlaceholder="VARIABLE"
        valuePlaceholder="secret name"
        valueSuggestions={secrets.data}
        hint="Environment variables of the build, not stored in the image"
      />
    </FieldGroup>
  )
}

const MetadataField = () => {
  const { data: known } = useQuery({ ...blueprintQueries.metadataKeys(), retry: false })
  return (
    <FormRows
      name="metadata"
      label="Metadata"
      addLabel="Add metadata"
      keySuggestions={known?.keys}
      hint="Labels to filter by, such as team=platform"
    />
  )
}

const OtherBuildParameters = ({ control, onRemove }: { control: FormControl; onRemove: () => void }) => (
  <OtherParameters
    title="Other parameters"
    parameters={withoutCredentials(useWatch({ control, name: 'otherBuild' }))}
    onRemove={onRemove}
  />
)

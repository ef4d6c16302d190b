'use client'
import { zodResolver } from '@hookform/resolvers/zod'
import { useMutation } from '@tanstack/react-query'
import { FormProvider, useController, useForm, useFormContext, useWatch } from 'react-hook-form'
import { Check } from '#components/ui/choice/check.tsx'
import { Chips } from '#components/ui/choice/chips.tsx'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { FieldError, TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { toast } from '#components/ui/toast.tsx'
import { alertKindLabels } from '#lib/protocol/alert-labels.ts'
import type { AlertKind, Receiver, ReceiverFormat, Severity } from '#lib/protocol/alerts.ts'
import { receiverMutations } from './queries.ts'
import {
  filterKinds,
  pagerDutyUrl,
  type ReceiverInput,
  type ReceiverValues,
  receiverFieldOf,
  receiverForm,
  receiverValues,
} from './receiver-form.ts'
import { formatLabels, severityLabels } from './receiver-text.ts'

interface ReceiverDialogProps {
  /** The receiver to edit; a new one without it. */
  receiver: Receiver | undefined
  onClose: () => void
}

export const ReceiverDialog = ({ receiver, onClose }: ReceiverDialogProps) => {
  const isNew = !receiver
  const form = useForm<ReceiverValues, unknown, ReceiverInput>({
    resolver: zodResolver(receiverForm({ isNew })),
    defaultValues: receiverValues(receiver),
  })
  const add = useMutation(receiverMutations.add())
  const change = useMutation(receiverMutations.change())
  const { isPending, error } = isNew ? add : change
  const onError = (failed: unknown) => {
    const { field, message } = problemOf(failed)
    const name = receiverFieldOf(field ?? '')
    if (name) form.setError(name, { message }, { shouldFocus: true })
  }
  const onSuccess = () => {
    toast.ok(isNew ? 'Receiver added' : 'Receiver saved')
    onClose()
  }
  const submit = form.handleSubmit((input) =>
    receiver
      ? change.mutate({ id: receiver.id, ...input }, { onError, onSuccess })
      : add.mutate(input, { onError, onSuccess }),
  )
  const format = useWatch({ control: form.control, name: 'format' })
  return (
    <FormDialog
      open
      losesInput
      onOpenChange={onClose}
      title={isNew ? 'Add receiver' : `Edit ${formatLabels[format]} receiver`}
      description={isNew ? undefined : formatHelp[format]}
      busy={isPending}
      onSubmit={() => void submit()}
      needs="/api/alerts/receivers"
      submitLabel={isNew ? 'Add receiver' : 'Save'}
      error={error && !receiverFieldOf(problemOf(error).field ?? '') ? error : null}
    >
      <FormProvider {...form}>
        {isNew && (
          <div className="space-y-1">
            <FormatField />
            <p className="text-sm text-muted">{formatHelp[format]}</p>
          </div>
        )}
        <FormText name="name" label="Name" placeholder="On-call channel" maxLength={60} />
        <Address receiver={receiver} format={format} />
        {format === 'heartbeat' ? (
          <FormText
            name="every"
            label="Interval in seconds"
            inputMode="numeric"
            hint="30 to 3600. Set your monitor to alert after two missed requests."
          />
        ) : (
          <Filter />
        )}
      </FormProvider>
    </FormDialog>
  )
}

const formatHelp: Record<ReceiverFormat, string> = {
  json: 'Sends alerts as JSON to your own endpoint, signed with the secret.',
  slack:
    'Posts to a channel. Create the URL in Slack: your app, Incoming Webhooks. Mattermost accepts the same messages.',
  pagerduty:
    'Opens an incident per alert or group and resolves it at the end. Get the key in PagerDuty: your service, Integrations, Events API v2.',
  heartbeat:
    'Sends a request at an interval while the console can see evictions. If the requests stop, your monitor raises the alarm. Use the ping URL of Healthchecks or a similar monitor.',
}

const urlPlaceholders: Record<ReceiverFormat, string> = {
  json: 'https://example.com/alerts',
  slack: 'https://hooks.slack.com/services/…',
  pagerduty: pagerDutyUrl,
  heartbeat: 'https://hc-ping.com/…',
}

const FormatField = () => {
  const { field } = useController<ReceiverValues, 'format'>({ name: 'format' })
  return (
    <Chips
      large
      legend="Format"
      legendClassName="mb-1 font-medium"
      value={field.value}
      onChange={field.onChange}
      options={Object.entries(formatLabels).map(([value, label]) => ({ value: value as ReceiverFormat, label }))}
    />
  )
}

const Address = ({ receiver, format }: { receiver: Receiver | undefined; format: ReceiverFormat }) => (
  <>
    <FormText
      name="url"
      label="URL"
      mono
      inputMode="url"
      optional={!receiver && format === 'pagerduty'}
      placeholder={receiver ? `Unchanged (${receiver.host})` : urlPlaceholders[format]}
      hint={receiver && "The URL isn't shown, as it may contain a key. Leave the field empty to keep it."}
    />
    {(format === 'json' || format === 'pagerduty') && (
      <FormText
        name="secret"
        type="password"
        mono
        label={format === 'json' ? 'Signing secret' : 'Integration key'}
        optional={format === 'json'}
        placeholder={receiver?.has_secret ? 'Unchanged' : undefined}
      />
    )}
  </>
)

type TextName = 'name' | 'url' | 'secret' | 'every'
type FormTextProps = Omit<Parameters<typeof TextField>[0], 'value' | 'onText' | 'error'> & { name: TextName }

const FormText = ({ name, ...props }: FormTextProps) => {
  const { field, fieldState } = useController<ReceiverValues, TextName>({ name })
  return (
    <TextField
      {...props}
      ref={field.ref}
      value={field.value}
      onText={field.onChange}
      error={fieldState.error?.message}
    />
  )
}

const Filter = () => {
  const { control } = useFormContext<ReceiverValues>()
  const severity = useController({ control, name: 'minSeverity' })
  const metadata = useController({ control, name: 'metadata' })
  return (
    <>
      <KindsField />
      <SelectField
        label="Severity"
        hint="Failures, outages, shutdowns and evictions in their last 2 minutes are critical; other evictions are warnings."
        options={Object.entries(severityLabels).map(([value, label]) => ({ value: value as Severity, label }))}
        value={severity.field.value}
        onPick={severity.field.onChange}
        error={severity.fieldState.error?.message}
      />
      <KeyValueEditor
        label="Metadata"
        addLabel="Add metadata"
        hint="Only alerts of devboxes with all of these. Outages have no metadata, so they won't match."
        value={metadata.field.value}
        onChange={metadata.field.onChange}
        error={metadata.fieldState.error?.message}
      />
    </>
  )
}

const KindsField = () => {
  const { field, fieldState } = useController<ReceiverValues, 'kinds'>({ name: 'kinds' })
  const toggle = (kind: AlertKind, isOn: boolean) =>
    field.onChange(filterKinds.filter((each) => (each === kind ? isOn : field.value.includes(each))))
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 font-medium">Alerts</legend>
      <div className="flex flex-wrap gap-x-4">
        {filterKinds.map((kind) => (
          <Check
            key={kind}
            label={alertKindLabels[kind]}
            checked={field.value.includes(kind)}
            onCheck={(isOn) => toggle(kind, isOn)}
          />
        ))}
      </div>
      {fieldState.error && <FieldError>{fieldState.error.message}</FieldError>}
    </fieldset>
  )
}

'use client'
import { zodResolver } from '@hookform/resolvers/zod'
import { useMutation } from '@tanstack/react-query'
import { type Ref, useState } from 'react'
import { Controller, useForm } from 'react-hook-form'
import * as z from 'zod/mini'
import { classes } from '#components/ui/classes.ts'
import { Field, TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { Textarea } from '#components/ui/input.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { toast } from '#components/ui/toast.tsx'
import { type Secret, SecretName, SecretValue } from '#lib/contract/secrets.ts'
import { secretMutations } from './queries.ts'

const SecretForm = z.object({ name: SecretName, value: SecretValue })
type SecretValues = z.infer<typeof SecretForm>

interface SecretDialogProps {
  /** The secret whose value is replaced; without it, the dialog creates one. */
  secret?: Pick<Secret, 'name'>
  onClose: () => void
}

/** Mount on open: closing it drops the value. */
export const SecretDialog = ({ secret, onClose }: SecretDialogProps) => {
  const form = useForm<SecretValues>({
    resolver: zodResolver(SecretForm),
    defaultValues: { name: secret?.name ?? '', value: '' },
  })
  const { errors } = form.formState
  const create = useMutation(secretMutations.create())
  const update = useMutation(secretMutations.update())
  const saving = secret ? update : create
  const submit = form.handleSubmit(({ name }) =>
    saving.mutate(
      { name, value: () => form.getValues('value') },
      {
        onError: (error) => {
          const { field, message } = problemOf(error)
          if (field === 'name' || field === 'value') form.setError(field, { message }, { shouldFocus: true })
        },
        onSuccess: () => {
          onClose()
          toast.ok(secret ? 'Value replaced' : 'Secret created')
        },
      },
    ),
  )
  const isAtField = ['name', 'value'].includes(problemOf(saving.error).field ?? '')
  return (
    <FormDialog
      open
      onOpenChange={onClose}
      title={secret ? `Replace value of ${secret.name}` : 'Create secret'}
      description={
        secret
          ? 'Devboxes that use the secret get the new value at their next start.'
          : 'Devboxes and benchmark jobs use secrets as environment variables. Secret values are write-only.'
      }
      busy={saving.isPending}
      onSubmit={() => void submit()}
      needs={secret ? 'secrets.update' : 'secrets.create'}
      submitLabel={secret ? 'Replace value' : 'Create secret'}
      error={isAtField ? null : saving.error}
    >
      {!secret && (
        <Controller
          control={form.control}
          name="name"
          render={({ field }) => (
            <TextField
              ref={field.ref}
              label="Name"
              mono
              placeholder="NPM_TOKEN"
              hint="Letters, digits, _ and -"
              value={field.value}
              onText={field.onChange}
              error={messageOf('Name', errors.name?.message)}
            />
          )}
        />
      )}
      <Controller
        control={form.control}
        name="value"
        render={({ field }) => (
          <HiddenValue
            inputRef={field.ref}
            value={field.value}
            onText={field.onChange}
            error={messageOf('Value', errors.value?.message)}
          />
        )}
      />
    </FormDialog>
  )
}

/** The contract's own messages start with `must`. */
const messageOf = (label: string, message: string | undefined) =>
  message?.startsWith('must') ? `${label} ${message}` : message

interface HiddenValueProps {
  inputRef: Ref<HTMLTextAreaElement>
  value: string
  onText: (text: string) => void
  error: string | undefined
}

/** Not a password field, which would remove the line breaks of a key file. */
const HiddenValue = ({ inputRef, value, onText, error }: HiddenValueProps) => {
  const [isShown, setIsShown] = useState(false)
  return (
    <div className="space-y-1.5">
      <Field
        label="Value"
        error={error}
        hint={/\n$/.test(value) ? 'Ends in a line break, which is part of the value' : 'Not shown again after saving'}
      >
        {(control) => (
          <Textarea
            {...control}
            ref={inputRef}
            mono
            rows={3}
            data-1p-ignore
            className={classes(!isShown && '[-webkit-text-security:disc]')}
            value={value}
            onChange={({ target }) => onText(target.value)}
          />
        )}
      </Field>
      <label className="inline-flex min-h-6 items-center gap-2 text-sm">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={isShown}
          onChange={({ target }) => setIsShown(target.checked)}
        />
        Show while typing
      </label>
    </div>
  )
}

'use client'
import { useQuery } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { jobPartQueries } from '#components/benchmarks/create/queries.ts'
import { Button } from '#components/ui/button.tsx'
import { Field, FieldError, TextField } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Input, Textarea } from '#components/ui/input.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import type { DevboxDraft, DraftFieldsProps } from './devbox-draft.ts'
import { FieldGroup } from './field-group.tsx'

export const EnvironmentFields = ({ draft, edit, errorAt }: DraftFieldsProps) => {
  const names = useQuery({ ...jobPartQueries.secretNames(), retry: false })
  return (
    <FieldGroup
      title="Environment and secrets"
      filled={draft.environment.length > 0 || draft.secrets.length > 0}
      hasError={Boolean(errorAt('environment') || errorAt('secrets'))}
    >
      <KeyValueEditor
        label="Environment variables"
        addLabel="Add variable"
        keyPlaceholder="NAME"
        value={draft.environment}
        onChange={(environment) => edit({ environment })}
        error={errorAt('environment')}
      />
      <KeyValueEditor
        label="Secrets"
        addLabel="Add secret"
        keyPlaceholder="VARIABLE"
        valuePlaceholder="name of the secret"
        valueSuggestions={names.data}
        value={draft.secrets}
        onChange={(secrets) => edit({ secrets })}
        hint={
          names.data
            ? `A variable, and the secret of the account it holds: ${names.data.length} to choose from.`
            : 'A variable, and the secret of the account it holds.'
        }
        error={errorAt('secrets')}
      />
    </FieldGroup>
  )
}

export const StartFields = ({ draft, edit, errorAt }: DraftFieldsProps) => {
  const others = Object.entries(draft.otherParameters)
  return (
    <FieldGroup
      title="Commands and files"
      filled={Boolean(draft.launchCommands || draft.entrypoint || draft.files.length > 0 || others.length > 0)}
      hasError={Boolean(errorAt('launchCommands') || errorAt('entrypoint') || errorAt('files'))}
    >
      <Field
        label="Launch commands"
        optional
        hint="One per line, run in the devbox at every start"
        error={errorAt('launchCommands')}
      >
        {(control) => (
          <Textarea
            {...control}
            mono
            value={draft.launchCommands}
            placeholder="npm install"
            onChange={({ target }) => edit({ launchCommands: target.value })}
          />
        )}
      </Field>
      <TextField
        label="Entrypoint"
        optional
        mono
        hint="Runs once the launch commands have; the devbox ends with it"
        error={errorAt('entrypoint')}
        value={draft.entrypoint}
        onText={(entrypoint) => edit({ entrypoint })}
      />
      <FileRows draft={draft} edit={edit} errorAt={errorAt} />
      {others.length > 0 && (
        <div className="space-y-1">
          <p className="font-medium">Other launch parameters</p>
          <p className="font-mono text-sm break-all text-muted">{JSON.stringify(draft.otherParameters)}</p>
          <Button size="sm" icon={X} onClick={() => edit({ otherParameters: {} })}>
            Leave these out
          </Button>
        </div>
      )}
    </FieldGroup>
  )
}

/** The files the devbox begins with. */
const FileRows = ({ draft: { files }, edit, errorAt }: DraftFieldsProps) => {
  const change = (at: number, part: Partial<DevboxDraft['files'][number]>) =>
    edit({ files: files.map((file, index) => (index === at ? { ...file, ...part } : file)) })
  const error = errorAt('files')
  return (
    <fieldset className="min-w-0 space-y-2">
      <legend className="mb-1 font-medium">Files</legend>
      {files.map((file, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows are edited in place and have no other identity
        <div key={at} className="space-y-1.5">
          <div className="flex items-center gap-1.5">
            <Input
              mono
              aria-label={`Path of file ${at + 1}`}
              placeholder="~/.npmrc"
              value={file.path}
              onChange={({ target }) => change(at, { path: target.value })}
            />
            <IconButton
              size="sm"
              icon={X}
              label={`Remove ${file.path || `file ${at + 1}`}`}
              onClick={() => edit({ files: files.filter((_, index) => index !== at) })}
            />
          </div>
          <Textarea
            mono
            aria-label={`Text of file ${at + 1}`}
            value={file.content}
            onChange={({ target }) => change(at, { content: target.value })}
          />
        </div>
      ))}
      {error && <FieldError>{error}</FieldError>}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button size="sm" icon={Plus} onClick={() => edit({ files: [...files, { path: '', content: '' }] })}>
          Add file
        </Button>
        <span className="text-sm text-muted">Below the home folder or /tmp, there before any command runs.</span>
      </div>
    </fieldset>
  )
}

'use client'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { CommandBlock } from '#components/ui/command-block.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { maxKeyNameLength } from '#lib/protocol/personal-keys.ts'
import { hasRole, type Role, roles } from '#lib/protocol/roles.ts'
import { personalKeyMutations } from './key-queries.ts'

const roleWords: Record<Role, string> = { viewer: 'Viewer', member: 'Member', operator: 'Operator' }

const lifetimes = [
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 1 year' },
  { value: '', label: 'Never' },
] as const

/** Mount on open: closing it drops the key. */
export const KeyDialog = ({ ownRole, onClose }: { ownRole: Role; onClose: () => void }) => {
  const [name, setName] = useState('')
  const [role, setRole] = useState(ownRole)
  const [days, setDays] = useState<(typeof lifetimes)[number]['value']>('90')
  const create = useMutation(personalKeyMutations.create())
  if (create.data) return <CreatedKey keyText={create.data.key} onClose={onClose} />
  const isAtName = problemOf(create.error).field === 'name'
  return (
    <FormDialog
      open
      onOpenChange={onClose}
      title="Create personal key"
      description="Requests with the key act in your name, with its role or yours, whichever is lower."
      needs="/api/personal-keys"
      submitLabel="Create key"
      losesInput
      busy={create.isPending}
      error={isAtName ? null : create.error}
      refusal={name.trim() === '' ? 'enter a name first' : null}
      onSubmit={() =>
        name.trim() !== '' && create.mutate({ name, role, expires_days: days === '' ? null : Number(days) })
      }
    >
      <TextField
        label="Name"
        placeholder="nightly-import"
        maxLength={maxKeyNameLength}
        value={name}
        onText={setName}
        error={isAtName && problemOf(create.error).message}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label="Role"
          value={role}
          options={roles
            .filter((each) => hasRole(ownRole, each))
            .map((each) => ({ value: each, label: roleWords[each] }))}
          onPick={setRole}
        />
        <SelectField label="Expires" value={days} options={lifetimes} onPick={setDays} />
      </div>
    </FormDialog>
  )
}

const CreatedKey = ({ keyText, onClose }: { keyText: string; onClose: () => void }) => (
  <Dialog
    open
    onOpenChange={onClose}
    title="Personal key created"
    description="Copy the key now. It isn't shown again."
    footer={
      <Button variant="primary" onClick={onClose}>
        Done
      </Button>
    }
  >
    <div className="space-y-4">
      <CommandBlock label="key" command={keyText} className="break-all" />
      <div className="space-y-1.5">
        <p className="text-sm text-muted">Scripts send it as a bearer token:</p>
        <CommandBlock
          label="example"
          command={`curl -H "Authorization: Bearer $DEVDECK_KEY" ${location.origin}/api/v1/devboxes`}
        />
      </div>
    </div>
  </Dialog>
)

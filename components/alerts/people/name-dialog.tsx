'use client'
import { useState } from 'react'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { maxNameLength } from '#lib/protocol/session.ts'
import { namePrompt, ownName } from './own-name.ts'

export const NameDialog = ({ act }: { act: () => void }) => {
  const [name, setName] = useState('')
  const proceed = (saved: string) => {
    ownName.save(saved)
    namePrompt.set(null)
    act()
  }
  return (
    <FormDialog
      open
      size="sm"
      title="What's your name?"
      description="Others on this account see who has an alert. You can change it in Settings."
      cancelLabel="Skip"
      needs={undefined}
      submitLabel="Continue"
      onOpenChange={() => proceed('')}
      onSubmit={() => proceed(name)}
    >
      <TextField
        label="Your name"
        hint="Marked as unverified, because you signed in with an API key."
        autoComplete="name"
        maxLength={maxNameLength}
        value={name}
        onText={setName}
      />
    </FormDialog>
  )
}

'use client'
import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { KeyValueEditor } from '#components/ui/key-value-editor.tsx'
import { type KeyValueRow, rowsToMap } from '#components/ui/key-values.ts'
import { toast } from '#components/ui/toast.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { axonMutations } from './queries.ts'

export const CreateAxonDialog = ({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) => {
  const router = useRouter()
  const [name, setName] = useState('')
  const [rows, setRows] = useState<KeyValueRow[]>([])
  const [rowsProblem, setRowsProblem] = useState<string | null>(null)
  const create = useMutation(axonMutations.create())

  const change = (next: boolean) => {
    onOpenChange(next)
    if (next) return
    setName('')
    setRows([])
    setRowsProblem(null)
    create.reset()
  }
  const submit = () => {
    const metadata = rowsToMap(rows)
    setRowsProblem(metadata.ok ? null : metadata.message)
    if (!metadata.ok) return
    create.mutate(
      { name: name || null, metadata: metadata.map },
      {
        onSuccess: ({ id }) => {
          change(false)
          toast.ok('Axon created', { action: { label: 'Open axon', onClick: () => router.push(paths.axon(id)) } })
        },
      },
    )
  }
  return (
    <FormDialog
      open={open}
      onOpenChange={change}
      title="Create axon"
      busy={create.isPending}
      onSubmit={submit}
      needs="axons.create"
      submitLabel="Create axon"
      error={create.error}
    >
      <TextField label="Name" optional hint="Lists can be filtered by name prefix." value={name} onText={setName} />
      <KeyValueEditor label="Metadata" value={rows} onChange={setRows} error={rowsProblem} />
    </FormDialog>
  )
}

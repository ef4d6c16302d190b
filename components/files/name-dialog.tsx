import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { nameRefusal, nameWords, within } from './file-path.ts'
import { fileMutations } from './queries.ts'

interface NameDialogProps {
  devboxId: string
  folder: string
  /** What is renamed; without it a folder is made. */
  name?: string
  /** It is named so now. */
  onNamed: (name: string) => void
  onClose: () => void
}

/** Names a new folder, or something that is there anew. */
export const NameDialog = ({ devboxId, folder, name, onNamed, onClose }: NameDialogProps) => {
  const [text, setText] = useState(name === undefined ? '' : nameWords(name))
  const make = useMutation(fileMutations.makeFolder(devboxId))
  const rename = useMutation(fileMutations.rename(devboxId))
  const { isPending, error } = name === undefined ? make : rename
  const submit = () => {
    if (nameRefusal(text) !== null) return
    const onSuccess = () => {
      onNamed(text)
      onClose()
    }
    if (name === undefined) make.mutate(within(folder, text), { onSuccess })
    else rename.mutate({ path: within(folder, name), name: text }, { onSuccess })
  }
  return (
    <FormDialog
      open
      onOpenChange={onClose}
      size="sm"
      title={name === undefined ? 'New folder' : 'Rename'}
      busy={isPending}
      onSubmit={submit}
      submitLabel={name === undefined ? 'Create folder' : 'Rename'}
      refusal={text === name ? 'it has this name already' : nameRefusal(text)}
      error={error}
    >
      <TextField
        label="Name"
        mono
        value={text}
        onText={setText}
        hint={`In ${nameWords(folder)}`}
        onFocus={({ currentTarget }) => currentTarget.setSelectionRange(0, stemOf(currentTarget.value))}
      />
    </FormDialog>
  )
}

/** What is likely to be typed anew: the name without its ending. */
const stemOf = (name: string): number => {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? dot : name.length
}

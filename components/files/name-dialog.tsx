import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { displayName, joinPath, nameProblem } from './file-path.ts'
import { fileMutations } from './queries.ts'

interface NameDialogProps {
  devboxId: string
  folder: string
  /** The entry to rename; without it, a folder is created. */
  name?: string
  onNamed: (name: string) => void
  onClose: () => void
}

/** Creates a folder or renames an entry. */
export const NameDialog = ({ devboxId, folder, name, onNamed, onClose }: NameDialogProps) => {
  const [text, setText] = useState(name === undefined ? '' : displayName(name))
  const make = useMutation(fileMutations.makeFolder(devboxId))
  const rename = useMutation(fileMutations.rename(devboxId))
  const { isPending, error } = name === undefined ? make : rename
  const submit = () => {
    if (nameProblem(text) !== null) return
    const onSuccess = () => {
      onNamed(text)
      onClose()
    }
    if (name === undefined) make.mutate(joinPath(folder, text), { onSuccess })
    else rename.mutate({ path: joinPath(folder, name), name: text }, { onSuccess })
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
      refusal={text === name ? 'the name is unchanged' : nameProblem(text)}
      error={error}
    >
      <TextField
        label="Name"
        mono
        value={text}
        onText={setText}
        hint={`In ${displayName(folder)}`}
        onFocus={({ currentTarget }) => currentTarget.setSelectionRange(0, stemLength(currentTarget.value))}
      />
    </FormDialog>
  )
}

/** The length of the name without its extension, which is selected. */
const stemLength = (name: string): number => {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? dot : name.length
}

'use client'
import { Trash2 } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { TextField } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Input } from '#components/ui/input.tsx'
import { toast } from '#components/ui/toast.tsx'
import { maxViewName, pathOf, type SavedView, savedViews, withView } from './saved-views.ts'

interface ViewsDialogProps {
  address: string
  onClose: () => void
}

export const ViewsDialog = ({ address, onClose }: ViewsDialogProps) => {
  const [views, setViews] = useState(savedViews.read)
  const [name, setName] = useState('')
  const save = (next: readonly SavedView[]) => {
    setViews(next)
    if (!savedViews.save(next)) toast.danger("Couldn't save the view: the browser denied access to its storage")
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() === '') return
    save(withView(views, { name: name.trim(), href: address }))
    setName('')
  }
  const own = views.filter(({ href }) => pathOf(href) === pathOf(address))
  const replace = (view: SavedView, by: SavedView[]) => save(views.flatMap((each) => (each === view ? by : each)))
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="sm"
      title="Saved views"
      description="A view keeps the filters, order and columns of this list. Stored in this browser for this account."
      footer={
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <form onSubmit={submit} className="flex items-end gap-2">
        <span className="min-w-0 flex-1">
          <TextField
            label="Name of the current view"
            autoComplete="off"
            maxLength={maxViewName}
            value={name}
            onText={setName}
          />
        </span>
        <Button type="submit" disabledReason={name.trim() === '' ? 'enter a name first' : null}>
          Save view
        </Button>
      </form>
      {own.length > 0 && (
        <ul aria-label="Saved views" className="mt-4 space-y-2">
          {own.map((view) => (
            <li key={view.href + own.indexOf(view)} className="flex items-center gap-2">
              <Input
                aria-label={`Rename ${view.name}`}
                defaultValue={view.name}
                maxLength={maxViewName}
                onBlur={({ target }) => {
                  const renamed = target.value.trim()
                  if (renamed === '') target.value = view.name
                  else if (renamed !== view.name) replace(view, [{ ...view, name: renamed }])
                }}
              />
              <IconButton icon={Trash2} label={`Delete ${view.name}`} onClick={() => replace(view, [])} />
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  )
}

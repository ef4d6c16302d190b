'use client'
import { Bookmark, Pencil, Trash2 } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { TextField } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { browserStore } from '#lib/browser/frame/kept-items.ts'
import {
  forgetView,
  keepView,
  maxViewName,
  nameRefusal,
  readViews,
  renameView,
  type SavedView,
  viewsOfList,
} from '#lib/browser/lists/saved-views.ts'

interface SavedViewsDialogProps {
  nouns: string
  /** The address of the list as it is shown now. */
  href: string
  onClose: () => void
}

/** Names for the list as it is shown now, and for what was saved of it before. */
export const SavedViewsDialog = ({ nouns, href, onClose }: SavedViewsDialogProps) => {
  const [views, setViews] = useState(() => readViews(browserStore()))
  const [isRefused, setIsRefused] = useState(false)
  const [renaming, setRenaming] = useState<string>()
  const own = viewsOfList(views, href)
  const change = (isKept: boolean) => {
    setIsRefused(!isKept)
    setViews(readViews(browserStore()))
    setRenaming(undefined)
    return isKept
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="sm"
      title={`Saved views of ${nouns}`}
      description={
        'A view is what the address of the list says: its filters, order and columns. Views are kept in this browser.'
      }
      footer={
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <NameForm
        label="Name this view"
        button="Save view"
        views={views}
        onName={(name) => change(keepView(browserStore(), { name, href }))}
      />
      {isRefused && (
        <p role="alert" className="mt-2 text-danger">
          This browser did not keep it: its storage is full or switched off, or has 100 views.
        </p>
      )}
      {own.length > 0 && (
        <ul aria-label="Saved views" className="mt-4 divide-y divide-line">
          {own.map((view) =>
            renaming === view.name ? (
              <li key={view.name} className="py-2">
                <NameForm
                  label={`New name of ${view.name}`}
                  button="Rename"
                  views={views}
                  onName={(name) => change(renameView(browserStore(), view.name, name))}
                />
              </li>
            ) : (
              <SavedRow
                key={view.name}
                view={view}
                onFollow={onClose}
                onRename={() => setRenaming(view.name)}
                onDelete={() => change(forgetView(browserStore(), view.name))}
              />
            ),
          )}
        </ul>
      )}
    </Dialog>
  )
}

interface NameFormProps {
  label: string
  button: string
  views: readonly SavedView[]
  /** Whether it is kept. */
  onName: (name: string) => boolean
}

const NameForm = ({ label, button, views, onName }: NameFormProps) => {
  const [name, setName] = useState('')
  const refusal = nameRefusal(views, name)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!refusal && onName(name)) setName('')
  }
  return (
    <form onSubmit={submit} className="flex items-end gap-2">
      <div className="min-w-0 flex-1">
        <TextField label={label} value={name} onText={setName} maxLength={maxViewName} />
      </div>
      <Button type="submit" icon={Bookmark} disabledReason={refusal}>
        {button}
      </Button>
    </form>
  )
}

interface SavedRowProps {
  view: SavedView
  onFollow: () => void
  onRename: () => void
  onDelete: () => void
}

const SavedRow = ({ view: { name, href }, onFollow, onRename, onDelete }: SavedRowProps) => (
  <li className="flex min-h-10 items-center gap-1">
    <span className="min-w-0 flex-1">
      <TextLink href={href} onClick={onFollow} className="block truncate">
        <VisibleText max={80}>{name}</VisibleText>
      </TextLink>
      <span className="block truncate font-mono text-sm text-muted" title={href}>
        {href}
      </span>
    </span>
    <IconButton size="sm" icon={Pencil} label={`Rename ${name}`} onClick={onRename} />
    <IconButton size="sm" icon={Trash2} label={`Delete ${name}`} onClick={onDelete} />
  </li>
)

'use client'
import { Dialog } from '#components/ui/dialog.tsx'
import { shortcutHelp } from '#lib/console/shortcuts.ts'
import { Keys } from './keys.tsx'

export const ShortcutsDialog = ({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) => (
  <Dialog
    open={open}
    onOpenChange={onOpenChange}
    size="sm"
    title="Keyboard shortcuts"
    description="They rest while you type in a field or a terminal."
  >
    <dl className="divide-y divide-line">
      {shortcutHelp.map(({ keys, does }) => (
        <div key={does} className="flex items-center justify-between gap-4 py-1.5">
          <dt>{does}</dt>
          <dd>
            <Keys keys={keys} />
          </dd>
        </div>
      ))}
    </dl>
  </Dialog>
)

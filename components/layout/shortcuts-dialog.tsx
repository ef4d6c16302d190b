'use client'
import { Dialog } from '#components/ui/dialog.tsx'
import { shortcutHelp, terminalShortcutHelp } from '#lib/console/frame/shortcuts.ts'
import { Keys } from './keys.tsx'

export const ShortcutsDialog = ({ onClose }: { onClose: () => void }) => (
  <Dialog
    open
    onOpenChange={onClose}
    size="sm"
    title="Keyboard shortcuts"
    description="They rest while you type in a field or a terminal."
  >
    <ShortcutList shortcuts={shortcutHelp} />
    <h3 className="mt-5 mb-1 font-semibold">In a terminal</h3>
    <ShortcutList shortcuts={terminalShortcutHelp} />
  </Dialog>
)

const ShortcutList = ({ shortcuts }: { shortcuts: typeof shortcutHelp }) => (
  <dl className="divide-y divide-line">
    {shortcuts.map(({ keys, does }) => (
      <div key={does} className="flex items-center justify-between gap-4 py-1.5">
        <dt>{does}</dt>
        <dd className="shrink-0">
          <Keys keys={keys} />
        </dd>
      </div>
    ))}
  </dl>
)

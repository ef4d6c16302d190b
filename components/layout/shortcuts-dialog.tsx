'use client'
import Link from 'next/link'
import { useChoice } from '#components/ui/choice/browser-choice.ts'
import { Dialog } from '#components/ui/dialog.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { Keys } from './keys.tsx'
import { useDestinations } from './navigation.ts'
import { shortcutHelp, sideBySideShortcutHelp, terminalShortcutHelp } from './shortcuts.ts'

export const ShortcutsDialog = ({ onClose }: { onClose: () => void }) => {
  const isOff = useChoice('letters') === 'off'
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="sm"
      title="Keyboard shortcuts"
      description="Inactive while you type in a field or a terminal."
    >
      <p className="mb-3 text-muted">
        {isOff ? 'Single-key shortcuts are off in this browser. ' : 'You can turn off single-key shortcuts in '}
        <Link href={paths.settings()} prefetch={false} onClick={onClose} className="text-accent underline">
          {isOff ? 'Turn them on in Settings' : 'Settings'}
        </Link>
      </p>
      <ShortcutList shortcuts={shortcutHelp(useDestinations())} />
      <h3 className="mt-5 mb-1 font-semibold">Side by side</h3>
      <ShortcutList shortcuts={sideBySideShortcutHelp} />
      <h3 className="mt-5 mb-1 font-semibold">In a terminal</h3>
      <ShortcutList shortcuts={terminalShortcutHelp} />
    </Dialog>
  )
}

const ShortcutList = ({ shortcuts }: { shortcuts: typeof terminalShortcutHelp }) => (
  <dl className="divide-y divide-line">
    {shortcuts.map(({ keys, action }) => (
      <div key={action} className="flex items-center justify-between gap-4 py-1.5">
        <dt>{action}</dt>
        <dd className="shrink-0">
          <Keys keys={keys} />
        </dd>
      </div>
    ))}
  </dl>
)

'use client'
import Link from 'next/link'
import { useChoice } from '#components/ui/choice/browser-choice.ts'
import { Dialog } from '#components/ui/dialog.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { keyCaps, type ShortcutScope, useChosenKeys } from '#lib/browser/frame/shortcuts.ts'
import { Keys } from './keys.tsx'
import { useDestinations } from './navigation.ts'
import { allShortcuts } from './shortcuts.ts'

export const ShortcutsDialog = ({ onClose }: { onClose: () => void }) => {
  const isOff = useChoice('letters') === 'off'
  const chosen = useChosenKeys()
  const shortcuts = allShortcuts(useDestinations()).map((each) => ({ ...each, keys: chosen[each.id] ?? each.keys }))
  const shownIn = (scope: ShortcutScope) =>
    shortcuts
      .filter((each) => each.scope === scope && each.keys !== '')
      .map(({ keys, label }) => ({ keys: keyCaps(keys), action: label }))
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="sm"
      title="Keyboard shortcuts"
      description="Inactive while you type in a field or a terminal."
    >
      <p className="mb-3 text-muted">
        {isOff ? 'Single-key shortcuts are off in this browser. ' : 'Change keys or turn off single-key shortcuts in '}
        <Link
          href={isOff ? paths.settings() : paths.shortcuts()}
          prefetch={false}
          onClick={onClose}
          className="text-accent underline"
        >
          {isOff ? 'Turn them on in Settings' : 'Settings'}
        </Link>
      </p>
      <ShortcutList shortcuts={shownIn('console')} />
      <ShortcutSection title="Lists" shortcuts={[...shownIn('list'), { keys: ['Enter'], action: 'Open the row' }]} />
      <ShortcutSection
        title="Side by side"
        shortcuts={[...shownIn('compare'), { keys: ['Enter'], action: 'Open or close the step' }]}
      />
      <ShortcutSection title="In a terminal" shortcuts={[...shownIn('terminal'), ...fixedTerminalShortcuts]} />
    </Dialog>
  )
}

interface Shown {
  keys: readonly string[]
  action: string
}

/** Handled by the control that has the focus, or by the browser. */
const fixedTerminalShortcuts: readonly Shown[] = [
  { keys: keyCaps('ctrl+shift+v'), action: 'Paste' },
  { keys: ['Ctrl', 'Shift', '1…8'], action: 'Show the tab at that position' },
  { keys: ['F2'], action: 'Rename the focused tab' },
  { keys: ['P'], action: 'Pin or unpin the focused tab' },
  { keys: ['Delete'], action: 'Close the focused tab; its shell keeps running' },
  { keys: ['Shift', '←→'], action: 'Move the focused tab' },
  { keys: ['Shift', 'F10'], action: "Open the terminal's menu" },
]

const ShortcutSection = ({ title, shortcuts }: { title: string; shortcuts: readonly Shown[] }) => (
  <>
    <h3 className="mt-5 mb-1 font-semibold">{title}</h3>
    <ShortcutList shortcuts={shortcuts} />
  </>
)

const ShortcutList = ({ shortcuts }: { shortcuts: readonly Shown[] }) => (
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

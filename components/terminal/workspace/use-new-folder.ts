import { useSearchParams } from 'next/navigation'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { decodePath } from '#lib/browser/address/encode-path.ts'
import { parseLayout, singleTab, type TerminalLayout } from '#lib/terminal/layout/layout.ts'
import { openTab } from '#lib/terminal/layout/moves.ts'
import { rememberedLayout } from './remembered-layouts.ts'
import type { ChangeLayout } from './use-terminal-layout.ts'

interface LayoutChanges {
  change: ChangeLayout
  add: (how: (now: TerminalLayout, name: string) => TerminalLayout, step: 'replace') => Promise<string | undefined>
}

/**
 * Opens a new shell in the folder that the address names (`cwd`, see `paths.devboxTerminal`). Returns true while the
 * page waits for it, so that no other shell is started first.
 */
export const useNewFolder = (
  devboxId: string,
  { change, add }: LayoutChanges,
  enter: (name: string, folder: string) => void,
): boolean => {
  const cwd = useSearchParams().get('cwd')
  const [isFirst, setIsFirst] = useState(cwd !== null)
  const isShown = useRef(!isFirst)

  const open = useEffectEvent(async () => {
    const address = new URL(location.href)
    const folder = address.searchParams.get('cwd')
    if (folder === null) return
    // Before anything waits: a reload must not open it again.
    address.searchParams.delete('cwd')
    history.replaceState(null, '', address)
    const hasLayout = isShown.current || address.searchParams.has('t')
    isShown.current = true
    const remembered = hasLayout ? undefined : rememberedLayout(devboxId)
    if (remembered !== undefined) change(() => parseLayout(remembered).layout, 'replace')
    const isOnlyOne = !hasLayout && remembered === undefined
    const name = await add(
      (now, free) => (isOnlyOne ? { tabs: [singleTab(free)], active: 0 } : openTab(now, singleTab(free))),
      'replace',
    )
    setIsFirst(false)
    if (name !== undefined) enter(name, decodePath(folder))
  })
  useEffect(() => {
    if (cwd !== null) void open()
  }, [cwd])
  return isFirst
}

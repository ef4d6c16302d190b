'use client'
import type { LucideIcon as Icon } from 'lucide-react'
import { Slot } from 'radix-ui'
import { type KeyboardEvent, type PointerEvent, type ReactElement, type ReactNode, useState } from 'react'
import { loadOnUse } from './overlay/load-on-use.tsx'
import { type OverlayState, useOverlay } from './overlay/use-overlay.ts'

export interface MenuAction {
  label: string
  icon?: Icon
  /** At the right end: a shortcut, a value. */
  hint?: ReactNode
  tone?: 'danger'
  /** Why it cannot be done now; shown under the label. */
  disabledReason?: string | null
  onSelect?: () => void
  href?: string
  checked?: boolean
}
export type MenuItem = MenuAction | 'separator' | { heading: ReactNode }

export interface DropdownMenuProps extends OverlayState {
  /** One button. */
  trigger: ReactElement
  label: string
  align?: 'start' | 'end'
  /** Undefined while they are on their way. */
  items: readonly MenuItem[] | undefined
  /** Takes the focus on from the closed menu; else its trigger does. */
  onClosed?: () => void
}

const MenuContent = loadOnUse(async () => (await import('./overlay/menu-content.tsx')).MenuContent)

export const DropdownMenu = ({ trigger, open, onOpenChange, items, ...rest }: DropdownMenuProps) => {
  const menu = useOverlay({ open, onOpenChange })
  const [isByKeyboard, setIsByKeyboard] = useState(false)
  const press = (event: PointerEvent) => {
    if (event.button !== 0 || event.ctrlKey) return
    setIsByKeyboard(false)
    menu.setIsOpen(!menu.isOpen)
    // The menu takes the focus; the trigger must not take it after that.
    if (!menu.isOpen) event.preventDefault()
  }
  const strike = (event: KeyboardEvent) => {
    if (!['Enter', ' ', 'ArrowDown'].includes(event.key)) return
    setIsByKeyboard(true)
    menu.setIsOpen(event.key === 'ArrowDown' || !menu.isOpen)
    event.preventDefault()
  }
  return (
    <>
      <Slot.Root {...menu.trigger} aria-haspopup="menu" onPointerDown={press} onKeyDown={strike}>
        {trigger}
      </Slot.Root>
      {menu.isNear && items && (
        <MenuContent
          {...rest}
          items={items}
          {...menu.content}
          isOpen={menu.isOpen}
          onOpenChange={menu.setIsOpen}
          isByKeyboard={isByKeyboard}
        />
      )}
    </>
  )
}

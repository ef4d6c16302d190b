'use client'
import { Check } from 'lucide-react'
import Link from 'next/link'
import { Menu } from 'radix-ui/internal'
import { type RefObject, useRef } from 'react'
import { classes } from '../classes.ts'
import type { DropdownMenuProps, MenuAction, MenuItem } from '../dropdown-menu.tsx'

interface MenuContentProps extends Omit<DropdownMenuProps, 'trigger' | 'open' | 'onOpenChange' | 'items'> {
  items: readonly MenuItem[]
  anchor: RefObject<HTMLElement | null>
  id: string
  isOpen: boolean
  onOpenChange: (open: boolean) => void
  /** Its first item has the focus at once. */
  isByKeyboard: boolean
}

/** What a `DropdownMenu` opens. Its trigger is drawn before this code is there, so it stands outside of it. */
export const MenuContent = ({
  anchor,
  id,
  isOpen,
  onOpenChange,
  isByKeyboard,
  label,
  align = 'end',
  items,
  onClosed,
}: MenuContentProps) => {
  const content = useRef<HTMLDivElement>(null)
  const isEntered = useRef(false)
  const isLeft = useRef(false)
  return (
    // Not modal: what is hidden from assistive technology meanwhile would still take the focus.
    <Menu.Root modal={false} open={isOpen} onOpenChange={onOpenChange}>
      <Menu.Anchor virtualRef={anchor as RefObject<HTMLElement>} />
      {/* What is outside of every landmark is passed over by who goes from one to the next. */}
      <Menu.Portal container={anchor.current?.closest<HTMLElement>('main, header')}>
        <Menu.Content
          ref={content}
          id={id}
          aria-label={label}
          align={align}
          sideOffset={4}
          collisionPadding={8}
          onEntryFocus={(event) => {
            const first = isEntered.current ? null : content.current?.querySelector<HTMLElement>('[role^=menuitem]')
            isEntered.current = true
            if (!isByKeyboard || !first) return
            event.preventDefault()
            first.focus({ preventScroll: true })
          }}
          onInteractOutside={() => {
            isLeft.current = true
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            isEntered.current = false
            if (onClosed) onClosed()
            else if (!isLeft.current) anchor.current?.focus()
            isLeft.current = false
          }}
          className="animate-appear z-50 max-w-80 min-w-48 rounded-md bg-overlay p-1 shadow-overlay"
        >
          {items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a menu's items are fixed while it is open
            <Item key={index} item={item} />
          ))}
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  )
}

const Item = ({ item }: { item: MenuItem }) => {
  if (item === 'separator') return <Menu.Separator className="-mx-1 my-1 h-px bg-line" />
  if ('heading' in item) return <Menu.Label className="px-2 py-1.5 text-sm text-muted">{item.heading}</Menu.Label>
  const face = <Face {...item} />
  const shape = classes(
    'flex w-full min-h-7 items-center gap-2 rounded-sm px-2 py-1 outline-none data-highlighted:bg-surface-2',
    item.tone === 'danger' && 'text-danger data-highlighted:bg-danger-bg',
    item.disabledReason && 'cursor-not-allowed text-muted',
  )
  if (item.disabledReason)
    // Not Radix's `disabled`: that takes the item, and so its reason, out of the keyboard's reach.
    return (
      <Menu.Item aria-disabled onSelect={(event) => event.preventDefault()} className={shape}>
        {face}
      </Menu.Item>
    )
  if (item.checked !== undefined)
    return (
      <Menu.CheckboxItem checked={item.checked} onSelect={item.onSelect} className={shape}>
        {face}
      </Menu.CheckboxItem>
    )
  if (item.href)
    return (
      <Menu.Item asChild onSelect={item.onSelect} className={shape}>
        <Link href={item.href}>{face}</Link>
      </Menu.Item>
    )
  return (
    <Menu.Item onSelect={item.onSelect} className={shape}>
      {face}
    </Menu.Item>
  )
}

const Face = ({ label, icon: Icon, hint, disabledReason, checked }: MenuAction) => (
  <>
    {Icon && <Icon aria-hidden className="size-4 shrink-0" strokeWidth={1.75} />}
    <span className="min-w-0 flex-1">
      {label}
      {disabledReason && <span className="block text-xs text-muted">{disabledReason}</span>}
    </span>
    {hint && <span className="text-xs text-muted">{hint}</span>}
    {checked && <Check aria-hidden className="size-4 shrink-0" />}
  </>
)

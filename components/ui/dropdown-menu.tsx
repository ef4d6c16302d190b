'use client'
import { Check, type LucideIcon as Icon } from 'lucide-react'
import Link from 'next/link'
import { DropdownMenu as Menu } from 'radix-ui'
import { type ReactElement, type ReactNode, useState } from 'react'
import type { Operation } from '#lib/protocol/roles.ts'
import { classes } from './classes.ts'
import { NoPageActions, type PaletteAction, useActionGroup, usePaletteActions } from './page-actions.tsx'
import { useRefusalOf } from './refusals.ts'

export interface MenuAction {
  label: string
  icon?: Icon
  hint?: ReactNode
  tone?: 'danger'
  /** The operation it performs. Disables the item if the service lacks it or the person's role doesn't allow it. */
  needs?: Operation | undefined
  disabledReason?: string | null
  onSelect?: () => void
  href?: string
  checked?: boolean
}
export type MenuItem = MenuAction | 'separator' | { heading: ReactNode }

interface DropdownMenuProps {
  trigger: ReactElement
  label: string
  align?: 'start' | 'end'
  items: readonly MenuItem[]
  open?: boolean
  onOpenChange?: (open: boolean) => void
  /** Holds more of the page's actions, which the command palette lists like those beside it. */
  isOverflow?: boolean
  /** Takes over focus from the closed menu, in place of its trigger. */
  onClosed?: () => void
}

export const DropdownMenu = ({
  trigger,
  label,
  align = 'end',
  items: givenItems,
  isOverflow = false,
  onClosed,
  open,
  onOpenChange,
}: DropdownMenuProps) => {
  const refusalOf = useRefusalOf()
  const items = givenItems.map((item) => {
    const refusal = isAction(item) && item.needs ? refusalOf(item.needs) : null
    return refusal === null ? item : { ...(item as MenuAction), disabledReason: refusal }
  })
  const [isOpen, setIsOpen] = useState(false)
  const change = (next: boolean) => {
    setIsOpen(next)
    onOpenChange?.(next)
  }
  const [button, setButton] = useState<HTMLElement | null>(null)
  const offered = useActionGroup()
  usePaletteActions(() => {
    if (!button?.checkVisibility()) return []
    const actions = items.flatMap((item) => (isAction(item) ? [paletteActionOf(item, button)] : []))
    return isOverflow ? actions : [{ ...offered, label, items: actions }]
  }, offered !== null)
  return (
    // Not modal: aria-hidden elements could still receive focus.
    <Menu.Root modal={false} open={open ?? isOpen} onOpenChange={change}>
      <NoPageActions>
        <Menu.Trigger asChild ref={(element) => setButton(element)}>
          {trigger}
        </Menu.Trigger>
      </NoPageActions>
      {/* In the trigger's landmark, as screen readers skip content outside all landmarks. */}
      <Menu.Portal container={button?.closest<HTMLElement>('main, header')}>
        <Menu.Content
          aria-label={label}
          align={align}
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={(event) => {
            if (!onClosed) return
            event.preventDefault()
            onClosed()
          }}
          className="animate-appear z-50 max-h-(--radix-dropdown-menu-content-available-height) max-w-80 min-w-48 overflow-y-auto rounded-md bg-overlay p-1 shadow-overlay"
        >
          {items.map((item, index) => (
            <Item
              // biome-ignore lint/suspicious/noArrayIndexKey: items don't change while the menu is open
              key={index}
              item={item}
              onBeforeSelect={() => onClosed || button?.focus()}
              onFollow={() => change(false)}
            />
          ))}
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  )
}

const isAction = (item: MenuItem): item is MenuAction => item !== 'separator' && !('heading' in item)

const paletteActionOf = (
  { label, icon, disabledReason, onSelect, href }: MenuAction,
  button: HTMLElement,
): PaletteAction => ({
  label,
  icon,
  disabledReason,
  href,
  run: () => {
    button.focus()
    onSelect?.()
  },
})

/** `onBeforeSelect` moves focus to the trigger, so that a dialog opened by the item returns focus there. */
const Item = ({
  item,
  onBeforeSelect,
  onFollow,
}: {
  item: MenuItem
  onBeforeSelect: () => void
  onFollow: () => void
}) => {
  if (item === 'separator') return <Menu.Separator className="-mx-1 my-1 h-px bg-line" />
  if ('heading' in item) return <Menu.Label className="px-2 py-1.5 text-sm text-muted">{item.heading}</Menu.Label>
  const content = <ItemContent {...item} />
  const select = () => {
    onBeforeSelect()
    item.onSelect?.()
  }
  const className = classes(
    'flex w-full min-h-7 items-center gap-2 rounded-sm px-2 py-1 outline-none data-highlighted:bg-surface-2',
    item.tone === 'danger' && 'text-danger data-highlighted:bg-danger-bg',
    item.disabledReason && 'cursor-not-allowed text-muted',
  )
  if (item.disabledReason)
    // Radix's `disabled` would keep the item and its reason from keyboard users.
    return (
      <Menu.Item aria-disabled onSelect={(event) => event.preventDefault()} className={className}>
        {content}
      </Menu.Item>
    )
  if (item.checked !== undefined)
    return (
      <Menu.CheckboxItem checked={item.checked} onSelect={select} className={className}>
        {content}
      </Menu.CheckboxItem>
    )
  return (
    <Menu.Item asChild={item.href !== undefined} onSelect={select} className={className}>
      {item.href === undefined ? (
        content
      ) : (
        // Radix would leave the menu open: the link prevents the default of the click.
        <Link href={item.href} onClick={onFollow}>
          {content}
        </Link>
      )}
    </Menu.Item>
  )
}

const ItemContent = ({ label, icon: Icon, hint, disabledReason, checked }: MenuAction) => (
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

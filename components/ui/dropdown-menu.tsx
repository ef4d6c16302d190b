'use client'
import type { LucideIcon as Icon } from 'lucide-react'
import { Check } from 'lucide-react'
import Link from 'next/link'
import { DropdownMenu as Primitive } from 'radix-ui'
import type { ReactElement, ReactNode } from 'react'
import { classes } from './classes.ts'

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

export interface DropdownMenuProps {
  /** One button. */
  trigger: ReactElement
  label?: string
  align?: 'start' | 'end'
  items: readonly MenuItem[]
  /** For a menu that something else than its trigger opens. */
  open?: boolean
  onOpenChange?: (open: boolean) => void
  /** Takes the focus on from the closed menu; else its trigger does. */
  onClosed?: () => void
}

export const DropdownMenu = ({
  trigger,
  label,
  align = 'end',
  items,
  open,
  onOpenChange,
  onClosed,
}: DropdownMenuProps) => (
  // Not modal: what is hidden from assistive technology meanwhile would still take the focus.
  <Primitive.Root modal={false} {...(open !== undefined && { open })} {...(onOpenChange && { onOpenChange })}>
    <Primitive.Trigger asChild>{trigger}</Primitive.Trigger>
    <Primitive.Portal>
      <Primitive.Content
        aria-label={label}
        align={align}
        sideOffset={4}
        collisionPadding={8}
        {...(onClosed && {
          onCloseAutoFocus: (event: Event) => {
            event.preventDefault()
            onClosed()
          },
        })}
        className="animate-appear z-50 max-w-80 min-w-48 rounded-md bg-overlay p-1 shadow-overlay"
      >
        {items.map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a menu's items are fixed while it is open
          <Item key={index} item={item} />
        ))}
      </Primitive.Content>
    </Primitive.Portal>
  </Primitive.Root>
)

const Item = ({ item }: { item: MenuItem }) => {
  if (item === 'separator') return <Primitive.Separator className="-mx-1 my-1 h-px bg-line" />
  if ('heading' in item)
    return <Primitive.Label className="px-2 py-1.5 text-sm text-muted">{item.heading}</Primitive.Label>
  const face = <Face {...item} />
  const shape = classes(
    'flex w-full min-h-7 items-center gap-2 rounded-sm px-2 py-1 outline-none data-highlighted:bg-surface-2',
    item.tone === 'danger' && 'text-danger data-highlighted:bg-danger-bg',
    item.disabledReason && 'cursor-not-allowed text-muted',
  )
  if (item.disabledReason)
    // Not Radix's `disabled`: that takes the item, and so its reason, out of the keyboard's reach.
    return (
      <Primitive.Item aria-disabled onSelect={(event) => event.preventDefault()} className={shape}>
        {face}
      </Primitive.Item>
    )
  if (item.checked !== undefined)
    return (
      <Primitive.CheckboxItem checked={item.checked} onSelect={item.onSelect} className={shape}>
        {face}
      </Primitive.CheckboxItem>
    )
  if (item.href)
    return (
      <Primitive.Item asChild onSelect={item.onSelect} className={shape}>
        <Link href={item.href}>{face}</Link>
      </Primitive.Item>
    )
  return (
    <Primitive.Item onSelect={item.onSelect} className={shape}>
      {face}
    </Primitive.Item>
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

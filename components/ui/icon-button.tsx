'use client'
import type { LucideIcon as Icon } from 'lucide-react'
import { LoaderCircle } from 'lucide-react'
import type { ComponentProps } from 'react'
import type { Operation } from '#lib/protocol/roles.ts'
import { inertProps } from './button.tsx'
import { classes } from './classes.ts'
import { useOfferedButton } from './page-actions.tsx'
import { useRefusal } from './refusals.ts'
import { Tooltip } from './tooltip.tsx'

export interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
  label: string
  icon: Icon
  variant?: 'ghost' | 'secondary' | 'danger'
  size?: 'sm' | 'md'
  busy?: boolean
  needs?: Operation | undefined
  disabledReason?: string | null
}

export const IconButton = ({
  label,
  icon,
  variant = 'ghost',
  size = 'md',
  busy,
  needs,
  disabledReason: ownReason,
  className,
  onClick,
  ref,
  ...rest
}: IconButtonProps) => {
  const disabledReason = useRefusal(needs, ownReason)
  const offeredRef = useOfferedButton({ icon, disabledReason }, ref)
  const Icon = busy ? LoaderCircle : icon
  const name = disabledReason ? `${label}: ${disabledReason}` : label
  return (
    <Tooltip content={name} isName={!disabledReason}>
      <button
        type="button"
        {...rest}
        ref={offeredRef}
        {...inertProps(Boolean(busy || disabledReason), onClick)}
        aria-label={name}
        aria-busy={busy || undefined}
        className={classes(
          'inline-flex shrink-0 items-center justify-center rounded-md border transition-colors aria-disabled:cursor-not-allowed aria-disabled:opacity-60',
          size === 'sm' ? 'size-6' : 'size-8',
          variantClasses[variant],
          className,
        )}
      >
        <Icon
          aria-hidden
          className={classes(size === 'sm' ? 'size-3.5' : 'size-4', busy && 'motion-safe:animate-spin')}
        />
      </button>
    </Tooltip>
  )
}

const variantClasses = {
  ghost: 'border-transparent text-muted hover:bg-surface-2 hover:text-text',
  secondary: 'border-line bg-surface-0 text-text hover:border-line-strong hover:bg-surface-2',
  danger: 'border-transparent text-danger hover:bg-danger-bg',
}

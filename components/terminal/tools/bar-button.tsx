import type { LucideIcon } from 'lucide-react'
import type { ComponentProps, ReactNode } from 'react'
import { inertProps } from '#components/ui/button.tsx'
import { classes } from '#components/ui/classes.ts'
import { useRefusal } from '#components/ui/refusals.ts'
import { Tooltip } from '#components/ui/tooltip.tsx'
import type { Operation } from '#lib/protocol/roles.ts'

interface BarButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
  icon: LucideIcon
  /** Hidden in narrow panes, where only the icon and the name remain. */
  label: string
  /** Accessible name, if more than the label. Contains it. */
  name?: string
  keys?: string
  color?: string | undefined
  figure?: ReactNode
  needs?: Operation | undefined
  disabledReason?: string | null
}

/** A labeled button in the bar under a terminal. */
export const BarButton = ({
  icon: Icon,
  label,
  name = label,
  keys,
  color = 'text-muted hover:text-text',
  figure,
  needs,
  disabledReason: ownReason,
  onClick,
  ...rest
}: BarButtonProps) => {
  const disabledReason = useRefusal(needs, ownReason)
  return (
    <Tooltip content={disabledReason ? `${name}: ${disabledReason}` : keys ? `${name} (${keys})` : name} isName>
      <button
        type="button"
        {...rest}
        {...inertProps(Boolean(disabledReason), onClick)}
        aria-label={disabledReason ? `${name}: ${disabledReason}` : name}
        className={classes(
          'tabular inline-flex h-6 shrink-0 items-center gap-1 rounded-md px-1.5 text-sm transition-colors hover:bg-surface-2 aria-disabled:cursor-not-allowed aria-disabled:opacity-60',
          color,
        )}
      >
        <Icon aria-hidden className="size-3.5 shrink-0" />
        {/* The space parts them for speech input. */}
        <span className="hidden @xl:inline">{label}</span> {figure}
      </button>
    </Tooltip>
  )
}

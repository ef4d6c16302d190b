'use client'
import type { LucideIcon as Icon } from 'lucide-react'
import { LoaderCircle } from 'lucide-react'
import Link from 'next/link'
import type { ComponentProps, MouseEvent, ReactNode } from 'react'
import type { Operation } from '#lib/protocol/roles.ts'
import { classes } from './classes.ts'
import { useOfferedButton } from './page-actions.tsx'
import { useRefusal } from './refusals.ts'
import { Tooltip } from './tooltip.tsx'

export interface ButtonLook {
  variant?: 'primary' | 'secondary' | 'ghost' | 'danger'
  size?: 'sm' | 'md'
  icon?: Icon
}

export interface ButtonProps extends ButtonLook, ComponentProps<'button'> {
  busy?: boolean
  /** The operation it performs. Disables the button if the service lacks it or the person's role doesn't allow it. */
  needs?: Operation | undefined
  /** Disables the button. It stays focusable, so that keyboard users can read the reason. */
  disabledReason?: string | null
}

export const Button = ({
  variant,
  size,
  icon,
  busy,
  needs,
  disabledReason: ownReason,
  children,
  className,
  onClick,
  ref,
  'aria-label': label,
  ...rest
}: ButtonProps) => {
  const disabledReason = useRefusal(needs, ownReason)
  const isInert = Boolean(busy || disabledReason)
  const offeredRef = useOfferedButton({ icon, disabledReason }, ref)
  const button = (
    <button
      type="button"
      data-button=""
      {...rest}
      ref={offeredRef}
      {...inertProps(isInert, onClick)}
      aria-label={label && disabledReason ? `${label}: ${disabledReason}` : label}
      aria-busy={busy || undefined}
      className={buttonClasses({ variant, size }, className)}
    >
      <ButtonFace icon={icon} busy={busy}>
        {children}
      </ButtonFace>
      {disabledReason && <span className="sr-only">: {disabledReason}</span>}
    </button>
  )
  return disabledReason ? <Tooltip content={disabledReason}>{button}</Tooltip> : button
}

export interface ButtonLinkProps extends ButtonLook, ComponentProps<typeof Link> {}

export const ButtonLink = ({ variant, size, icon, children, className, ref, ...rest }: ButtonLinkProps) => (
  <Link
    data-button=""
    {...rest}
    ref={useOfferedButton({ icon }, ref)}
    className={buttonClasses({ variant, size }, className)}
  >
    <ButtonFace icon={icon}>{children}</ButtonFace>
  </Link>
)

export const ButtonAnchor = ({
  variant,
  size,
  icon,
  children,
  className,
  ref,
  ...rest
}: ButtonLook & ComponentProps<'a'>) => (
  <a
    data-button=""
    {...rest}
    ref={useOfferedButton({ icon }, ref)}
    className={buttonClasses({ variant, size }, className)}
  >
    <ButtonFace icon={icon}>{children}</ButtonFace>
  </a>
)

/** `aria-disabled`, as `disabled` would remove the button and its reason from the tab order. */
export const inertProps = (isInert: boolean, onClick?: (event: MouseEvent<HTMLButtonElement>) => void) => ({
  'aria-disabled': isInert || undefined,
  onClick: isInert ? (event: MouseEvent) => event.preventDefault() : onClick,
})

const ButtonFace = ({ icon: Icon, busy, children }: { icon?: Icon; busy?: boolean; children: ReactNode }) => (
  <>
    {busy ? (
      <LoaderCircle aria-hidden className="size-3.5 shrink-0 motion-safe:animate-spin" />
    ) : (
      Icon && <Icon aria-hidden className="size-3.5 shrink-0" />
    )}
    {children}
  </>
)

const buttonClasses = ({ variant = 'secondary', size = 'md' }: ButtonLook, className?: string) =>
  classes(
    'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap transition-colors select-none',
    'aria-disabled:cursor-not-allowed',
    size === 'sm' ? 'h-7 px-2 text-sm' : 'h-8 px-3 text-base',
    variantClasses[variant],
    className,
  )

const off = 'aria-disabled:border-line aria-disabled:bg-surface-2 aria-disabled:text-muted disabled:text-muted'
const variantClasses = {
  primary: `border-transparent bg-accent-solid text-on-accent hover:bg-accent-solid-hover ${off}`,
  secondary: `border-line bg-surface-0 text-text hover:border-line-strong hover:bg-surface-2 active:bg-surface-3 ${off} aria-disabled:hover:border-line`,
  ghost:
    'border-transparent text-text hover:bg-surface-2 active:bg-surface-3 aria-disabled:text-muted aria-disabled:hover:bg-transparent',
  danger: `border-transparent bg-danger-solid text-on-accent hover:bg-danger-solid-hover ${off}`,
}

import Link from 'next/link'
import type { ComponentProps } from 'react'
import { classes } from './classes.ts'

interface TextLinkProps extends ComponentProps<typeof Link> {
  /** Inside a row that is itself a link. */
  inRow?: boolean
}

export const TextLink = ({ inRow = false, className, ...link }: TextLinkProps) => (
  <Link
    prefetch={inRow ? false : undefined}
    {...link}
    className={classes('text-accent hover:underline', inRow && 'relative z-1', className)}
  />
)

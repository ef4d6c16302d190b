'use client'
import type { ReactNode } from 'react'
import { loadOnUse } from './overlay/load-on-use.tsx'

export interface DialogProps {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: ReactNode
  description?: ReactNode
  children?: ReactNode
  footer?: ReactNode
  size?: 'sm' | 'md' | 'lg'
  /** While busy the dialog cannot be left by Escape or by a click outside. */
  busy?: boolean
}

const DialogFrame = loadOnUse(async () => (await import('./overlay/dialog-frame.tsx')).DialogFrame)

export const Dialog = ({ open, ...rest }: DialogProps) => open && <DialogFrame {...rest} />

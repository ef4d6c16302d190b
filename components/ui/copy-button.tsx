'use client'
import type { LucideIcon as Icon } from 'lucide-react'
import { Check, Copy } from 'lucide-react'
import { Button, type ButtonProps } from './button.tsx'
import { useCopy } from './use-copy.ts'

interface CopyButtonProps extends Pick<ButtonProps, 'className' | 'disabledReason'> {
  /** In lower case: "IDs". */
  what: string
  text: () => string
  icon?: Icon
}

export const CopyButton = ({ what, text, icon = Copy, ...rest }: CopyButtonProps) => {
  const { result, copy } = useCopy(what)
  const isCopied = result === 'copied'
  return (
    <Button {...rest} size="sm" variant="ghost" icon={isCopied ? Check : icon} onClick={() => void copy(text())}>
      {isCopied ? 'Copied' : `Copy ${what}`}
    </Button>
  )
}

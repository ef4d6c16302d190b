'use client'
import { X } from 'lucide-react'
import { Dialog as Primitive } from 'radix-ui'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'
import { IconButton } from './icon-button.tsx'
import { skipIconButtons } from './overlay/skip-icon-buttons.ts'
import { useReturnFocus } from './overlay/use-return-focus.ts'

export interface DialogProps {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: ReactNode
  description?: ReactNode
  children?: ReactNode
  footer?: ReactNode
  size?: 'sm' | 'md' | 'lg'
  /** A busy dialog can't be closed. */
  busy?: boolean
}

export const Dialog = ({ open, ...rest }: DialogProps) => open && <OpenDialog {...rest} />

const OpenDialog = ({
  onOpenChange,
  title,
  description,
  children,
  footer,
  size = 'md',
  busy,
}: Omit<DialogProps, 'open'>) => {
  const { rememberFocus, returnFocus } = useReturnFocus()
  return (
    <Primitive.Root open onOpenChange={(next) => (next || !busy) && onOpenChange(next)}>
      <Primitive.Portal>
        <Primitive.Overlay className="animate-appear fixed inset-0 z-40 bg-scrim" />
        <Primitive.Content
          {...(description ? {} : { 'aria-describedby': undefined })}
          onOpenAutoFocus={(event) => {
            rememberFocus()
            skipIconButtons(event)
          }}
          onCloseAutoFocus={returnFocus}
          className={classes(
            'animate-appear fixed top-[8dvh] left-1/2 z-40 flex max-h-[84dvh] w-[calc(100vw-2rem)] -translate-x-1/2 flex-col rounded-lg bg-overlay shadow-overlay outline-none',
            widths[size],
          )}
        >
          <header className="px-5 pt-5 pr-14">
            <Primitive.Title className="text-xl font-semibold break-words">{title}</Primitive.Title>
            {description && (
              <Primitive.Description className="mt-1 text-lg text-muted">{description}</Primitive.Description>
            )}
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 py-4">{children}</div>
          {footer && (
            <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{footer}</footer>
          )}
          {/* Last in DOM order, so that the first field gets focus. */}
          <Primitive.Close asChild>
            <IconButton
              label="Close"
              icon={X}
              disabledReason={busy ? 'the request is still running' : null}
              className="absolute top-3 right-3"
            />
          </Primitive.Close>
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}

const widths = { sm: 'max-w-md', md: 'max-w-xl', lg: 'max-w-3xl' }

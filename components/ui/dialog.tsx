'use client'
import { X } from 'lucide-react'
import { Dialog as Primitive } from 'radix-ui'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'
import { IconButton } from './icon-button.tsx'
import { useReturnFocus } from './overlay/use-return-focus.ts'
import { NoPageActions } from './page-actions.tsx'

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

const OpenDialog = (dialog: Omit<DialogProps, 'open'>) => {
  const { onOpenChange, title, description, children, footer, size = 'md', busy } = dialog
  return (
    <Modal
      isDescribed={description !== undefined}
      onOpenChange={(next) => (next || !busy) && onOpenChange(next)}
      className={classes(
        'top-[8dvh] left-1/2 flex max-h-[84dvh] w-[calc(100vw-2rem)] -translate-x-1/2 flex-col rounded-lg bg-overlay',
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
      {footer && <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{footer}</footer>}
      {/* Last in DOM order, so that the first field gets focus. */}
      <Primitive.Close asChild>
        <IconButton
          label="Close"
          icon={X}
          disabledReason={busy ? 'the request is still running' : null}
          className="absolute top-3 right-3"
        />
      </Primitive.Close>
    </Modal>
  )
}

const widths = { sm: 'max-w-md', md: 'max-w-xl', lg: 'max-w-3xl' }

interface ModalProps {
  onOpenChange: (open: boolean) => void
  isDescribed?: boolean
  className: string
  /** With a title. */
  children: ReactNode
}

/** Covers the page, and returns focus when it closes. */
export const Modal = ({ onOpenChange, isDescribed = false, className, children }: ModalProps) => {
  const { rememberFocus, returnFocus } = useReturnFocus()
  return (
    <Primitive.Root open onOpenChange={onOpenChange}>
      <Primitive.Portal>
        <Primitive.Overlay className="animate-appear fixed inset-0 z-40 bg-scrim" />
        <Primitive.Content
          {...(isDescribed ? {} : { 'aria-describedby': undefined })}
          onOpenAutoFocus={(event) => {
            rememberFocus()
            skipIconButtons(event)
          }}
          onCloseAutoFocus={returnFocus}
          onEscapeKeyDown={keepForEditor}
          className={classes('animate-appear fixed z-40 shadow-overlay outline-none', className)}
        >
          <NoPageActions>{children}</NoPageActions>
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}

/** In an editor that takes Tab, the first Escape only gives that key back; on a page of the palette, it goes back. */
const keepForEditor = (event: globalThis.KeyboardEvent) => {
  const keepsEscape = event.target instanceof Element && event.target.matches('[data-takes-tab], [data-takes-escape]')
  if (keepsEscape) event.preventDefault()
}

/** Focuses the dialog instead of an icon button, whose tooltip would swallow the first Escape. */
const skipIconButtons = (event: Event) => {
  const dialog = event.currentTarget
  if (!(dialog instanceof HTMLElement)) return
  const first = dialog.querySelector('button, input, select, textarea')
  if (!first?.matches('button[aria-label]')) return
  event.preventDefault()
  dialog.focus()
}

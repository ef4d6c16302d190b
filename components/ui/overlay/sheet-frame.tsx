'use client'
import { X } from 'lucide-react'
import { Dialog as Primitive } from 'radix-ui'
import type { KeyboardEvent, ReactNode } from 'react'
import { IconButton } from '../icon-button.tsx'
import { useReturnFocus } from './use-return-focus.ts'

interface SheetFrameProps {
  title: ReactNode
  actions?: ReactNode
  onClose: () => void
  onKeyDown?: (event: KeyboardEvent) => void
  children: ReactNode
}

/** Details at the right edge of the page, which stays usable. Escape closes it and returns focus. */
export const SheetFrame = ({ title, actions, onClose, onKeyDown, children }: SheetFrameProps) => {
  const { rememberFocus, returnFocus } = useReturnFocus()
  return (
    <Primitive.Root open modal={false} onOpenChange={(next) => next || onClose()}>
      <Primitive.Portal>
        <Primitive.Content
          aria-describedby={undefined}
          tabIndex={-1}
          onOpenAutoFocus={(event) => {
            rememberFocus()
            event.preventDefault()
            if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus()
          }}
          onCloseAutoFocus={returnFocus}
          onInteractOutside={(event) => event.preventDefault()}
          onKeyDown={onKeyDown}
          className="animate-appear fixed inset-y-0 right-0 z-30 flex w-full flex-col border-l border-line bg-overlay shadow-overlay outline-none sm:w-[30rem] sm:max-w-[92vw]"
        >
          <div className="flex items-start gap-2 border-b border-line px-4 py-3">
            <Primitive.Title className="min-w-0 flex-1 text-lg font-semibold break-words">{title}</Primitive.Title>
            {actions}
            <Primitive.Close asChild>
              <IconButton label="Close" icon={X} size="sm" />
            </Primitive.Close>
          </div>
          <div className="min-h-0 flex-1 space-y-5 overflow-y-auto px-4 py-4">{children}</div>
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}

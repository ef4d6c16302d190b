'use client'
import { X } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { IconButton } from '#components/ui/icon-button.tsx'
import { skipIconButtons } from '#components/ui/overlay/skip-icon-buttons.ts'
import { useReturnFocus } from '#components/ui/overlay/use-return-focus.ts'
import { Home, NavigationLinks } from './sidebar.tsx'

export const NavigationDrawer = ({ onClose }: { onClose: () => void }) => {
  const { rememberFocus, returnFocus } = useReturnFocus()
  return (
    <Dialog.Root open onOpenChange={onClose}>
      <Dialog.Portal>
        <Dialog.Overlay className="animate-appear fixed inset-0 z-40 bg-scrim md:hidden" />
        <Dialog.Content
          aria-describedby={undefined}
          onOpenAutoFocus={(event) => {
            rememberFocus()
            skipIconButtons(event)
          }}
          onCloseAutoFocus={returnFocus}
          className="animate-appear fixed inset-y-0 left-0 z-40 w-64 max-w-[85vw] bg-surface-1 shadow-overlay outline-none md:hidden"
        >
          <Dialog.Title className="sr-only">Navigation</Dialog.Title>
          <div className="flex h-12 items-center justify-between pr-2 pl-3">
            <Home />
            <Dialog.Close asChild>
              <IconButton icon={X} label="Close navigation" />
            </Dialog.Close>
          </div>
          <NavigationLinks onFollow={onClose} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

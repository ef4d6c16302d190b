'use client'
import { Menu, X } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { useState } from 'react'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Home, NavigationLinks } from './sidebar.tsx'

/** The sidebar of a narrow screen. */
export const NavigationDrawer = () => {
  const [open, setOpen] = useState(false)
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Trigger asChild>
        <IconButton icon={Menu} label="Open navigation" className="-ml-1 md:hidden" />
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className="animate-appear fixed inset-0 z-40 bg-scrim md:hidden" />
        <Dialog.Content
          aria-describedby={undefined}
          className="animate-appear fixed inset-y-0 left-0 z-40 w-64 max-w-[85vw] bg-surface-1 shadow-overlay outline-none md:hidden"
        >
          <Dialog.Title className="sr-only">Navigation</Dialog.Title>
          <div className="flex h-12 items-center justify-between pr-2 pl-3">
            <Home />
            <Dialog.Close asChild>
              <IconButton icon={X} label="Close navigation" />
            </Dialog.Close>
          </div>
          <NavigationLinks onFollow={() => setOpen(false)} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

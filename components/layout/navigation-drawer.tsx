'use client'
import { X } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { Modal } from '#components/ui/dialog.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Home, NavigationLinks } from './sidebar.tsx'

export const NavigationDrawer = ({ onClose }: { onClose: () => void }) => (
  <Modal onOpenChange={onClose} className="inset-y-0 left-0 w-64 max-w-[85vw] bg-surface-1">
    <Dialog.Title className="sr-only">Navigation</Dialog.Title>
    <div className="flex h-12 items-center justify-between pr-2 pl-3">
      <Home />
      <Dialog.Close asChild>
        <IconButton icon={X} label="Close navigation" />
      </Dialog.Close>
    </div>
    <NavigationLinks onFollow={onClose} />
  </Modal>
)

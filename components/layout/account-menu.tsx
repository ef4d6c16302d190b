'use client'
import { useMutation } from '@tanstack/react-query'
import { CircleUser, Keyboard, LogOut, Settings, ShieldAlert } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { Badge } from '#components/ui/badge.tsx'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { problemOf } from '#components/ui/problem.ts'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { sessionMutations } from '#lib/console/queries/session.ts'
import type { SessionView } from '#lib/wire/session.ts'

export const AccountMenu = ({
  session: { account, service },
  onHelp,
}: {
  session: SessionView
  onHelp: () => void
}) => {
  const signOut = useSignOut()
  const router = useRouter()
  return (
    <DropdownMenu
      label="Account"
      trigger={<IconButton icon={CircleUser} label={`Account ${account.name.slice(0, 60)}`} busy={signOut.isPending} />}
      items={[
        {
          heading: (
            <span className="flex flex-col gap-1">
              <VisibleText truncate className="text-base font-medium text-text">
                {account.name}
              </VisibleText>
              <span className="font-mono text-xs break-all">{service.url}</span>
              <span className="text-xs">
                {service.embedded ? 'Local service of this console' : 'Service set by DEVDECK_SERVICE_URL'}
              </span>
              {account.isolation === 'none' && (
                <span>
                  <Badge tone="attention" icon={ShieldAlert}>
                    No isolation
                  </Badge>
                </span>
              )}
            </span>
          ),
        },
        'separator',
        { label: 'Keyboard shortcuts', icon: Keyboard, hint: '?', onSelect: onHelp },
        { label: 'Settings', icon: Settings, onSelect: () => router.push(paths.settings()) },
        { label: 'Sign out', icon: LogOut, onSelect: () => signOut.mutate() },
      ]}
    />
  )
}

/** Leaves by a full load, so that nothing of the account stays in memory. */
export const useSignOut = () =>
  useMutation({
    ...sessionMutations.signOut(),
    onSuccess: () => location.assign(paths.signIn()),
    onError: (error) => toast.danger('You are still signed in', { description: problemOf(error).message }),
  })

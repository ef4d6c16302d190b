'use client'
import { useMutation } from '@tanstack/react-query'
import { ArrowLeftRight, CircleUser, Keyboard, LogOut, Settings, ShieldAlert, UserPlus } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { Badge } from '#components/ui/badge.tsx'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { sessionMutations } from '#lib/browser/queries/session.ts'
import { maxOtherAccounts, type SessionView } from '#lib/protocol/session.ts'
import { accountColours } from './account-colours.ts'
import { AccountDot } from './account-name.tsx'

export const AccountMenu = ({
  session: { account, person, service, others = [] },
  onHelp,
}: {
  session: SessionView
  onHelp: () => void
}) => {
  const signOut = useSignOut()
  const switchTo = useSwitch()
  const colours = accountColours([account.id, ...others.map(({ id }) => id)])
  const router = useRouter()
  return (
    <DropdownMenu
      label="Account"
      trigger={
        <IconButton
          icon={CircleUser}
          label={`${'Account'} ${account.name.slice(0, 60)}`}
          busy={signOut.isPending || switchTo.isPending}
        />
      }
      items={[
        {
          heading: (
            <span className="flex flex-col gap-1">
              <span className="flex items-center gap-2">
                {others.length > 0 && <AccountDot colour={colours.get(account.id)} />}
                <VisibleText truncate className="text-base font-medium text-text">
                  {account.name}
                </VisibleText>
              </span>
              {person !== undefined && (
                <span className="text-sm break-all">
                  Signed on as <VisibleText>{person}</VisibleText>
                </span>
              )}
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
        ...others.map(({ id, name }) => ({
          label: `Switch to ${name.slice(0, 60)}`,
          hint: <AccountDot colour={colours.get(id)} />,
          icon: ArrowLeftRight,
          onSelect: () => switchTo.mutate(id),
        })),
        { label: 'Keyboard shortcuts', icon: Keyboard, hint: '?', onSelect: onHelp },
        { label: 'Settings', icon: Settings, onSelect: () => router.push(paths.settings()) },
        {
          label: 'Add an account',
          icon: UserPlus,
          disabledReason:
            others.length < maxOtherAccounts ? null : `${maxOtherAccounts + 1} accounts are signed in; sign out of one`,
          onSelect: () => location.assign(paths.addAccount()),
        },
        {
          label: others.length > 0 ? `Sign out of ${account.name.slice(0, 60)}` : 'Sign out',
          icon: LogOut,
          onSelect: () => signOut.mutate('own'),
        },
        ...(others.length > 0
          ? [
              {
                label: `Sign out of all ${others.length + 1}`,
                icon: LogOut,
                onSelect: () => signOut.mutate('all'),
              },
            ]
          : []),
      ]}
    />
  )
}

/** Leaves by a full load, so that nothing of the account stays in memory. */
export const useSignOut = () =>
  useMutation({
    ...sessionMutations.signOut(),
    onSuccess: (isOnAnother) => location.assign(isOnAnother ? paths.overview() : paths.signIn()),
    onError: toast.failed('You are still signed in'),
  })

/** By a full load as well: nothing of one account is in memory when the other is shown. */
const useSwitch = () =>
  useMutation({
    ...sessionMutations.switchTo(),
    onSuccess: () => location.assign(paths.overview()),
    onError: toast.failed('The account was not switched'),
  })

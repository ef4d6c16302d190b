'use client'
import { useMutation } from '@tanstack/react-query'
import { ArrowLeftRight, BookOpen, CircleUser, Keyboard, LogOut, Settings, ShieldAlert, UserPlus } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { forgetLayouts } from '#components/terminal/workspace/remembered-layouts.ts'
import { Badge } from '#components/ui/badge.tsx'
import { classes } from '#components/ui/classes.ts'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { pageAccountId } from '#lib/browser/api/page-account.ts'
import { maxOtherAccounts, type SessionView } from '#lib/protocol/session.ts'
import { recentItems } from './palette/recent.ts'
import { sessionMutations } from './session-queries.ts'

export const AccountMenu = ({ session, onHelp }: { session: SessionView; onHelp: () => void }) => {
  const { account, person, role, service, others = [] } = session
  const signOut = useSignOut()
  const switchTo = useSwitch()
  const router = useRouter()
  return (
    <DropdownMenu
      label="Account"
      trigger={
        <IconButton
          icon={CircleUser}
          label={`Account ${account.name.slice(0, 60)}`}
          busy={signOut.isPending || switchTo.isPending}
        />
      }
      items={[
        {
          heading: (
            <span className="flex flex-col gap-1">
              <span className="flex items-center gap-2">
                {others.length > 0 && <AccountDot color={accountColor(account.id, session)} />}
                <VisibleText truncate className="text-base font-medium text-text">
                  {account.name}
                </VisibleText>
              </span>
              {person !== undefined && (
                <span className="text-sm break-all">
                  Signed in as <VisibleText>{person}</VisibleText>
                </span>
              )}
              {person !== undefined && <span className="text-sm">Role: {role}</span>}
              <span className="font-mono text-xs break-all">{service.url}</span>
              <span className="text-xs">
                {service.embedded ? 'Local service' : 'External service (DEVDECK_SERVICE_URL)'}
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
          hint: <AccountDot color={accountColor(id, session)} />,
          icon: ArrowLeftRight,
          onSelect: () => switchTo.mutate(id),
        })),
        { label: 'Keyboard shortcuts', icon: Keyboard, hint: '?', onSelect: onHelp },
        { label: 'Docs', icon: BookOpen, onSelect: () => router.push(paths.docs()) },
        { label: 'Settings', icon: Settings, onSelect: () => router.push(paths.settings()) },
        {
          label: 'Add account',
          icon: UserPlus,
          disabledReason:
            others.length < maxOtherAccounts
              ? null
              : `The limit is ${maxOtherAccounts + 1} accounts; sign out of one first`,
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
                label: `Sign out of all ${others.length + 1} accounts`,
                icon: LogOut,
                onSelect: () => signOut.mutate('all'),
              },
            ]
          : []),
      ]}
    />
  )
}

/** Navigates with a full page load, so that nothing of the account stays in memory. */
export const useSignOut = () =>
  useMutation({
    ...sessionMutations.signOut(),
    onSuccess: (hasOtherAccount, scope) => {
      if (scope === 'all') recentItems.clearAll()
      else recentItems.clear()
      forgetLayouts(scope === 'all' ? undefined : pageAccountId())
      location.assign(hasOtherAccount ? paths.overview() : paths.signIn())
    },
    onError: toast.failed("Couldn't sign out"),
  })

export const useSwitch = () =>
  useMutation({
    ...sessionMutations.switchTo(),
    onSuccess: () => location.assign(paths.overview()),
    onError: toast.failed("Couldn't switch accounts"),
  })

const colors = ['bg-account-0', 'bg-account-1', 'bg-account-2', 'bg-account-3', 'bg-account-4']
/** The color of an account among those signed in, the same on every page. */
const accountColor = (id: string, { account, others = [] }: Accounts): string | undefined =>
  colors[
    [account, ...others]
      .map((each) => each.id)
      .sort()
      .indexOf(id)
  ]

type Accounts = Pick<SessionView, 'account' | 'others'>

export const AccountName = ({ session }: { session: Accounts }) =>
  session.others?.length ? (
    <span className="mr-1 flex max-w-24 min-w-0 items-center gap-1.5 text-sm md:max-w-40">
      <AccountDot color={accountColor(session.account.id, session)} />
      <VisibleText truncate>{session.account.name}</VisibleText>
    </span>
  ) : null

const AccountDot = ({ color }: { color: string | undefined }) => (
  <span aria-hidden className={classes('inline-block size-2.5 shrink-0 rounded-full', color)} />
)

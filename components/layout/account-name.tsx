import { classes } from '#components/ui/classes.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { SessionView } from '#lib/protocol/session.ts'

const colors = ['bg-account-0', 'bg-account-1', 'bg-account-2', 'bg-account-3', 'bg-account-4']
/** The color of an account among those signed in, the same on every page. */
export const accountColor = (id: string, { account, others = [] }: Accounts): string | undefined =>
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

export const AccountDot = ({ color }: { color: string | undefined }) => (
  <span aria-hidden className={classes('inline-block size-2.5 shrink-0 rounded-full', color)} />
)

import { classes } from '#components/ui/classes.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { SessionView } from '#lib/protocol/session.ts'
import { type AccountColour, accountColours } from './account-colours.ts'

/** Says in the frame whose page it is, where the browser is signed in to more than one account. */
export const AccountName = ({ account, others = [] }: Pick<SessionView, 'account' | 'others'>) => {
  if (others.length === 0) return null
  const colours = accountColours([account.id, ...others.map(({ id }) => id)])
  return (
    <span className="mr-1 flex max-w-24 min-w-0 items-center gap-1.5 text-sm md:max-w-40">
      <AccountDot colour={colours.get(account.id)} />
      <VisibleText truncate>{account.name}</VisibleText>
    </span>
  )
}

/** Always beside the account's name. */
export const AccountDot = ({ colour }: { colour: AccountColour | undefined }) => (
  <span aria-hidden className={classes('inline-block size-2.5 shrink-0 rounded-full', colour)} />
)

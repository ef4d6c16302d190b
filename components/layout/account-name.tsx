import { classes } from '#components/ui/classes.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { SessionView } from '#lib/protocol/session.ts'

const colors = ['bg-account-0', 'bg-account-1', 'bg-account-2', 'bg-account-3', 'bg-account-4'] as const
type AccountColor = (typeof colors)[number]

/** One color per account, derived from its id so that it is the same on every page. Collisions take the next free one. */
export const accountColors = (ids: readonly string[]): Map<string, AccountColor> => {
  const assigned = new Map<string, AccountColor>()
  for (const id of [...new Set(ids)].sort()) {
    const hash = [...id].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 65_521, 7)
    const taken = new Set(assigned.values())
    const candidates = colors.map((_, i) => colors[(hash + i) % colors.length] ?? colors[0])
    assigned.set(id, candidates.find((color) => !taken.has(color)) ?? colors[0])
  }
  return assigned
}

/** The page's account, shown when the browser is signed in to several. */
export const AccountName = ({ account, others = [] }: Pick<SessionView, 'account' | 'others'>) => {
  if (others.length === 0) return null
  const color = accountColors([account.id, ...others.map(({ id }) => id)]).get(account.id)
  return (
    <span className="mr-1 flex max-w-24 min-w-0 items-center gap-1.5 text-sm md:max-w-40">
      <AccountDot color={color} />
      <VisibleText truncate>{account.name}</VisibleText>
    </span>
  )
}

export const AccountDot = ({ color }: { color: AccountColor | undefined }) => (
  <span aria-hidden className={classes('inline-block size-2.5 shrink-0 rounded-full', color)} />
)

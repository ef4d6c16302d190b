'use client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { DevboxStatusBadge } from '#components/devboxes/status.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import { type Devbox, devboxes, hasEnded } from '#lib/contract/devboxes.ts'

const pageApi = browserApi({ devboxes })

const maxRead = 500
const maxShown = 20

/** The API can't filter devboxes by what they use. */
const latestDevboxes = () =>
  queryOptions({
    queryKey: ['devboxes', 'latest', maxRead] as const,
    queryFn: ({ signal }) => pageApi.devboxes.list({ query: { limit: maxRead }, signal }),
    staleTime: 10_000,
  })

/** Devboxes that use a record and have not ended, among the latest ones. */
export const DevboxUsers = ({ uses }: { uses: (devbox: Devbox) => boolean }) => {
  const { data, error } = useQuery(latestDevboxes())
  return (
    <section aria-labelledby="devbox-users" className="space-y-2">
      <h3 id="devbox-users" className="font-medium">
        Devboxes that use it
      </h3>
      {data ? (
        <Users {...data} users={data.devboxes.filter((devbox) => !hasEnded(devbox.status) && uses(devbox))} />
      ) : error ? (
        <InlineError error={error} />
      ) : (
        <p className="animate-appear-late text-muted">Loading devboxes</p>
      )}
    </section>
  )
}

interface UsersProps {
  users: readonly Devbox[]
  devboxes: readonly Devbox[]
  has_more: boolean
}

const Users = ({ users, devboxes, has_more }: UsersProps) => {
  const among = has_more ? `Among the latest ${formatCountOf(devboxes.length, 'devbox', 'devboxes')}` : ''
  if (users.length === 0) return <p className="text-muted">{among ? `${among}: none active` : 'No active devboxes'}</p>
  return (
    <>
      <ul aria-label="Devboxes that use it" className="divide-y divide-line rounded-md border border-line">
        {users.slice(0, maxShown).map(({ id, name, status }) => (
          <li key={id} className="flex min-h-9 items-center gap-3 px-3 py-1.5">
            <TextLink href={paths.devbox(id)} className="min-w-0 flex-1 truncate">
              <VisibleText max={120}>{name || id}</VisibleText>
            </TextLink>
            <DevboxStatusBadge status={status} />
          </li>
        ))}
      </ul>
      <p className="text-sm text-muted">
        {[among, users.length > maxShown && `Shows ${maxShown} of ${formatCount(users.length)}`]
          .filter(Boolean)
          .join('. ')}
      </p>
    </>
  )
}

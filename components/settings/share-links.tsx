'use client'
import { useQuery } from '@tanstack/react-query'
import { shareQueries } from '#components/benchmarks/share/queries.ts'
import { ShareLinks } from '#components/benchmarks/share/share-list.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'

export const ShareLinkSettings = () => {
  const query = useQuery(shareQueries.list())
  const { data, error } = query
  return (
    <section aria-labelledby="share-links" className="min-w-0 space-y-3 lg:col-span-2">
      <h2 id="share-links" className="text-lg font-medium">
        Share links
      </h2>
      <p className="max-w-prose text-muted">
        {data && !data.enabled
          ? 'Links are turned off on this console (DEVDECK_SHARES=off).'
          : "Public links to this account's benchmark reports. Create one with Share on a job, comparison or trend."}
      </p>
      {error && !data && <ErrorState compact title="Couldn't load links" error={error} query={query} />}
      {data && data.shares.length > 0 ? (
        <ShareLinks shares={data.shares} label="Share links" />
      ) : (
        data && <p className="text-muted">None</p>
      )}
    </section>
  )
}

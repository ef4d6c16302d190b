'use client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useSupport } from '#components/settings/support-queries.ts'
import { Banner } from '#components/ui/banner.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { pollEvery } from '#lib/browser/api/failures.ts'
import { drain, type PlannedStop } from '#lib/contract/drain.ts'
import { effectTexts, plannedStopTitle, sinceText } from './planned-stop-text.ts'

const api = browserApi({ drain })
const pollMs = 10_000
const plannedPollMs = 2_000

const plannedStop = () =>
  queryOptions({
    queryKey: ['planned-stop'],
    queryFn: ({ signal }) => api.drain.state({ signal }),
    refetchInterval: (query) => pollEvery(query.state.data?.stop ? plannedPollMs : pollMs)(query),
  })

/** Shown on every page from the start of a drain until the service is back. */
export const PlannedStopBanner = () => {
  const isOffered = useSupport('drain.state') === 'yes'
  const { data } = useQuery({ ...plannedStop(), enabled: isOffered })
  return data?.stop ? <StopBanner stop={data.stop} /> : null
}

const StopBanner = ({ stop }: { stop: PlannedStop }) => {
  const title = useClock((nowMs) => plannedStopTitle(stop, nowMs))
  const since = useClock((nowMs) => sinceText(stop, nowMs))
  return (
    <section aria-label="Planned restart">
      <Banner
        tone="attention"
        className="border-x-0 border-t-0 md:px-6"
        title={<span className="tabular">{title}</span>}
      >
        <p>{[since, ...effectTexts(stop)].join(' ')}</p>
      </Banner>
    </section>
  )
}

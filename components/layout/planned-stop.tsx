'use client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useSupport } from '#components/settings/support-queries.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Scrolled } from '#components/ui/scrolled.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { pollEvery } from '#lib/browser/api/failures.ts'
import { formatCount } from '#lib/browser/format.ts'
import { drain, type PlannedStop, type RunningWork } from '#lib/contract/drain.ts'
import { effectTexts, plannedStopTitle, shellUse, sinceText, workLabel } from './planned-stop-text.ts'

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
        <StopDetails stop={stop} />
      </Banner>
    </section>
  )
}

const StopDetails = ({ stop: { running = [], restarting = [], ...stop } }: { stop: PlannedStop }) => {
  if (running.length === 0 && restarting.length === 0) return null
  const { commands, shells = 0, trials, scorings = 0, snapshots, builds, devboxes_restarting } = stop
  const hidden = commands + shells + trials + scorings + snapshots + builds - running.length
  return (
    <details>
      <summary className="w-fit font-medium">Running work and devboxes that will restart</summary>
      <Scrolled className="max-h-60 space-y-2 overflow-y-auto pt-1">
        {running.length > 0 && (
          <ul className="space-y-0.5">
            {running.map((work, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: trials of a job have no other identity
              <li key={index} className="break-words">
                <Work work={work} />
              </li>
            ))}
            {hidden > 0 && <li>{formatCount(hidden)} more</li>}
          </ul>
        )}
        {restarting.length > 0 && (
          <p>
            Will restart:{' '}
            {restarting.map(({ id, name }, index) => (
              <span key={id}>
                {index > 0 && ', '}
                <DevboxName id={id} name={name} />
              </span>
            ))}
            {devboxes_restarting > restarting.length &&
              ` and ${formatCount(devboxes_restarting - restarting.length)} more`}
          </p>
        )}
      </Scrolled>
    </details>
  )
}

const Work = ({ work }: { work: RunningWork }) => {
  const { kind, id, name, devbox_id, devbox_name } = work
  const use = shellUse(work)
  return (
    <>
      {workLabel(work)}{' '}
      <VisibleText max={80} mono={kind === 'command'} className={kind === 'command' ? 'text-sm' : undefined}>
        {name || id}
      </VisibleText>
      {devbox_id && (
        <>
          {' in '}
          <DevboxName id={devbox_id} name={devbox_name} />
        </>
      )}
      {use && (
        <>
          , <VisibleText max={40}>{use}</VisibleText>
        </>
      )}
    </>
  )
}

const DevboxName = ({ id, name }: { id: string; name: string | null | undefined }) => (
  <TextLink href={paths.devbox(id)} prefetch={false}>
    <VisibleText max={60}>{name || id}</VisibleText>
  </TextLink>
)

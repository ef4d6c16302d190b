'use client'
import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { InlineError } from '#components/ui/error-state.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { axonQueries } from '#lib/browser/queries/axons.ts'
import { EventDetails } from './event-details.tsx'

interface LinkedEventProps {
  axonId: string
  sequence: number
  onClose: () => void
}

/** The event an address names while it is not among those shown: too old to be loaded, or kept out by a filter. */
export const LinkedEvent = ({ axonId, sequence, onClose }: LinkedEventProps) => {
  const query = useQuery(axonQueries.event(axonId, sequence))
  return (
    <section aria-label={`Event ${sequence}`} className="rounded-md border border-line bg-surface-1">
      <header className="flex items-center gap-2 py-1 pr-1 pl-3">
        <h2 className="flex-1 font-medium">
          Event <span className="tabular font-mono">{sequence}</span>
          <span className="font-normal text-muted">, not among the events shown below</span>
        </h2>
        <IconButton size="sm" icon={X} label={`Close event ${sequence}`} onClick={onClose} />
      </header>
      {query.data && <EventDetails axonId={axonId} event={query.data} />}
      {query.data === null && <p className="px-3 pb-2 text-muted">The log has no event of this sequence.</p>}
      {query.isPending && <p className="animate-appear-late px-3 pb-2 text-muted">Loading it</p>}
      {query.error && <InlineError error={query.error} className="px-3 pb-2" />}
    </section>
  )
}

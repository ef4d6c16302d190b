import { Badge } from '#components/ui/badge.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCountOf } from '#lib/browser/format.ts'
import type { Delivery, Receiver } from '#lib/protocol/alerts.ts'
import { deliveryStates, deliveryText } from './receiver-text.ts'

export const Deliveries = ({ receiver: { name, deliveries } }: { receiver: Receiver }) => (
  <section aria-label={`Latest deliveries to ${name}`} className="pb-2 pl-5.5">
    {deliveries.length === 0 ? (
      <p className="text-sm text-muted">Nothing sent yet. “Test” sends a message.</p>
    ) : (
      <ul>
        {deliveries.map((delivery) => (
          <DeliveryItem key={delivery.id} delivery={delivery} />
        ))}
      </ul>
    )}
  </section>
)

const DeliveryItem = ({ delivery }: { delivery: Delivery }) => {
  const { at_ms, attempts, state, answer, text } = delivery
  const [tone, label] = deliveryStates[state]
  return (
    <li className="border-t border-line py-1.5 text-sm">
      <div className="flex flex-wrap items-center gap-x-3">
        <Badge tone={tone}>{label}</Badge>
        <span>{deliveryText(delivery)}</span>
        <span className="text-muted wrap-anywhere">
          <VisibleText max={200}>{answer}</VisibleText>
          {attempts > 0 && `, ${formatCountOf(attempts, 'attempt')}`}
        </span>
        <RelativeTime ms={at_ms} className="ml-auto text-muted" />
      </div>
      {text && (
        <div className="whitespace-pre-line text-muted">
          <VisibleText truncate={3} max={1000} layout={'\n'}>
            {text}
          </VisibleText>
        </div>
      )}
    </li>
  )
}

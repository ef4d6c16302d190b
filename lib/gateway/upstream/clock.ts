import { slot } from '../registry/registry.ts'

/** Differences below this may come from the whole seconds of a Date header or from network latency. */
const jitterMs = 2_000
const maxRoundTripMs = 1_000

const clock = slot('serviceClock', () => ({ offsetMs: 0 }))

/** The service's current time, which its deadlines refer to; this machine's clock may be wrong. */
export const serviceNow = (): number => toServiceTime(Date.now())

export const toServiceTime = (ms: number): number => ms + clock().offsetMs

/** Measures the clock offset from a response's Date header. `sentMs` is this machine's time. */
export const syncServiceClock = ({ headers }: Response, sentMs: number): void => {
  const receivedMs = Date.now()
  const dateMs = Date.parse(headers.get('date') ?? '')
  // A cached response carries an old time.
  if (Number.isNaN(dateMs) || headers.has('age') || receivedMs - sentMs > maxRoundTripMs) return
  // The header is truncated to seconds: half a second off on average.
  const offsetMs = dateMs + 500 - (sentMs + receivedMs) / 2
  if (Math.abs(offsetMs) < jitterMs) clock().offsetMs = 0
  else if (Math.abs(offsetMs - clock().offsetMs) >= jitterMs) clock().offsetMs = offsetMs
}

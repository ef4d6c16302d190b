import { registry } from '../registry/registry.ts'

/** What is less may be the whole seconds of a Date header, or what the answer took on its way. */
const jitterMs = 2_000
/** A slower answer tells too little of when it was given. */
const maxRoundTripMs = 1_000

/** The time at the service, whose deadlines are by its own clock: this machine's may be wrong. */
export const serviceNow = (): number => toServiceTime(Date.now())

/** What the clock of the service shows at a time of this machine's. */
export const toServiceTime = (ms: number): number => ms + registry().serviceAheadMs

/** Learns from an answer how far the clock of the service is ahead. `askedMs` is of this machine's clock. */
export const syncServiceClock = ({ headers }: Response, askedMs: number): void => {
  const answeredMs = Date.now()
  const toldMs = Date.parse(headers.get('date') ?? '')
  // An answer that a cache kept tells an old time.
  if (Number.isNaN(toldMs) || headers.has('age') || answeredMs - askedMs > maxRoundTripMs) return
  const shared = registry()
  // The header leaves out how much of its second had passed.
  const aheadMs = toldMs + 500 - (askedMs + answeredMs) / 2
  if (Math.abs(aheadMs) < jitterMs) shared.serviceAheadMs = 0
  else if (Math.abs(aheadMs - shared.serviceAheadMs) >= jitterMs) shared.serviceAheadMs = aheadMs
}

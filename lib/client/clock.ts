// A page shows and sends times by the service's clock, because the clock of its computer may be wrong.

/** A slower response says too little about when the service read its clock. */
const maxRoundTripMs = 1_000
/** Smaller corrections would make countdowns jump. */
const jitterMs = 250

let offsetMs = 0
let samples: number[] = []

/** The service's current time. */
export const serviceNow = (): number => toServiceTime(Date.now())

export const toServiceTime = (localMs: number): number => localMs + offsetMs

export const toLocalTime = (serviceMs: number): number => serviceMs - offsetMs

/** How far the service's clock is ahead of this computer's. */
export const clockOffsetMs = (): number => offsetMs

/** Drops earlier readings: a clock may have been set since. */
export const restartClock = (): void => {
  samples = []
}

/** Adds a reading of the service's clock, made between two `performance.now()` times. The median of the last five counts. */
export const syncClock = (serviceMs: number, sentMs = performance.now(), receivedMs = sentMs): void => {
  if (receivedMs - sentMs > maxRoundTripMs && samples.length > 0) return
  const ageMs = performance.now() - (sentMs + receivedMs) / 2
  samples = [...samples, serviceMs + ageMs - Date.now()].slice(-5)
  const median = samples.toSorted((a, b) => a - b)[samples.length >> 1] ?? 0
  if (Math.abs(median - offsetMs) > jitterMs) offsetMs = Math.round(median)
}

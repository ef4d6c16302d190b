import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Database } from './database.ts'

/** How far ahead of an axon's events the disk knows its sequences. A power cut leaves a gap of at most as many. */
const reach = 1_000

interface Reservation {
  first: number
  reserved: number
  skipped: number
  power_cuts: number
}

/**
 * Numbers events that may be heard before they are on the disk. A power cut takes those away again; but who heard one
 * resumes after it, so that its number must never stand for another event. Hence the disk knows beforehand which numbers
 * may be in use, and after a power cut those that are not accounted for are left out.
 */
export const createAxonSequences = (database: Database, bootId: string) => {
  const last = database.prepare('SELECT max(sequence) AS last FROM axon_events WHERE axon = ?')
  const find = database.prepare('SELECT first, reserved, skipped, power_cuts FROM axon_sequences WHERE axon = ?')
  const write = database.prepare('INSERT OR REPLACE INTO axon_sequences VALUES (?, ?, ?, ?, ?)')
  const known = database.prepare('SELECT count, boot_id FROM power_cuts')
  const mark = database.prepare('UPDATE power_cuts SET count = ?, boot_id = ?')
  const clear = database.prepare('UPDATE power_cuts SET boot_id = NULL WHERE count = ? AND boot_id = ?')

  const marked = () => known.get() as { count: number; boot_id: string | null }
  const { count, boot_id } = marked()
  // The machine began anew and the service before had no time to bring everything onto the disk.
  const powerCuts = boot_id === null || boot_id === bootId ? count : count + 1

  const lastOf = (axon: number) => (last.get(axon) as { last: number | null }).last ?? 0
  const reservationOf = (axon: number) => find.get(axon) as Reservation | undefined
  /** Up to where the numbers stand for an event, or were left out. */
  const endOf = (axon: number, reservation = reservationOf(axon)) =>
    Math.max(lastOf(axon), (reservation?.first ?? 1) - 1)

  return {
    lastOf,

    /** How many events the axon has. */
    count: (axon: number): number => {
      const reservation = reservationOf(axon)
      return endOf(axon, reservation) - (reservation?.skipped ?? 0)
    },

    /** Whether the disk knows of the next numbers: so many of each axon. */
    areReserved: (wanted: ReadonlyMap<number, number>): boolean => {
      const { count, boot_id } = marked()
      if (count !== powerCuts || boot_id !== bootId) return false
      for (const [axon, many] of wanted) {
        const reservation = reservationOf(axon)
        if (reservation?.power_cuts !== powerCuts) return false
        if (endOf(axon, reservation) + many > reservation.reserved) return false
      }
      return true
    },

    /** Within a transaction that waits for the disk. */
    reserve: (wanted: ReadonlyMap<number, number>) => {
      mark.run(powerCuts, bootId)
      for (const [axon, many] of wanted) {
        const before = reservationOf(axon)
        const end = endOf(axon, before)
        const isLost = before !== undefined && before.power_cuts !== powerCuts
        const first = 1 + (isLost ? Math.max(before.reserved, end) : end)
        const skipped = (before?.skipped ?? 0) + first - 1 - end
        write.run(axon, first, first + many - 1 + reach, skipped, powerCuts)
      }
    },

    /** The number of the axon's next event. It has to be reserved. */
    next: (axon: number): number => endOf(axon) + 1,

    /** All that was heard is on the disk: a power cut from now on loses nothing. */
    settle: () => {
      clear.run(powerCuts, bootId)
    },
  }
}

/** Another one after every start of the machine. Where the system does not tell it, each start of the service counts. */
export const readBootId = (): string => {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return randomUUID()
  }
}

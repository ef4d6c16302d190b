/** A write that a page of this console made, as it was answered. */
export interface Activity {
  /** Grows with time. */
  id: string
  at_ms: number
  /** As the contract names it: `devboxes.shutdown`. What only a console does is named likewise: `recordings.delete`. */
  operation: string
  /** What it was done to, or what came of it; null where neither is known. Behind an id and `/`, what of it was meant. */
  subject: string | null
  /** Of the answer. */
  status: number
  /** Who signed on at the operator's provider; null with an API key, which does not tell who entered it. */
  person: string | null
  /** "Chrome on Linux" */
  browser: string
  /** From where the console was called. */
  address: string
}

/** Answer of `GET /api/activity`: newest first. */
export interface ActivityList {
  activities: Activity[]
  has_more: boolean
  total_count: number
}

/** Of each account; older ones are forgotten. */
export const maxStoredActivities = 10_000

/** A change made through this console, with its status. */
export interface Activity {
  id: string
  at_ms: number
  /** Endpoint id such as `devboxes.shutdown`, or the console's own, such as `recordings.delete`. */
  operation: string
  /** Id of the changed or created record; null if unknown. A `/` separates a part of it. */
  subject: string | null
  status: number
  /** Name from single sign-on, or typed in the browser and marked as unverified; null without a name. */
  person: string | null
  browser: string
  address: string
}

/** Response of `GET /api/activity`, newest first. */
export interface ActivityList {
  activities: Activity[]
  has_more: boolean
  total_count: number
}

/** Per account; older entries are pruned. */
export const maxStoredActivities = 10_000

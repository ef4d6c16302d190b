import * as z from 'zod/mini'
import { paths } from '#lib/browser/address/paths.ts'
import { searchOf } from '#lib/browser/address/search.ts'
import { reportChoice } from '../report-params.ts'

export const changeKinds = ['new_failures', 'worse', 'new_passes', 'better', 'still_failing', 'slower'] as const
export type ChangeKind = (typeof changeKinds)[number]

export const mostCompared = 10

/** What the address of the comparison says: what its report is asked for, and which changes are shown. */
export const CompareView = z.object({
  /** Ids with commas between them. */
  jobs: z.optional(z.string()),
  /** A job, or a run of one. Absent: the first job. */
  baseline: z.optional(z.string()),
  ...reportChoice,
  change: z.optional(z.enum(changeKinds, `must be one of ${changeKinds.join(', ')}`)),
})
export type CompareView = z.output<typeof CompareView>

export const comparePath = (view: Partial<CompareView>): string =>
  `${paths.compare()}${searchOf(view, { failures: 'zero' })}`

import * as z from 'zod/mini'
import { paths } from '#lib/browser/address/paths.ts'
import { searchOf } from '#lib/browser/address/search.ts'
import { gateKinds } from '#lib/protocol/reports.ts'
import { numberParam, reportParams } from '../report-params.ts'

export const changeKinds = ['new_failures', 'worse', 'new_passes', 'better', 'still_failing', 'slower'] as const
export type ChangeKind = (typeof changeKinds)[number]

export const maxCompared = 10

export const CompareView = z.object({
  jobs: z.optional(z.string()),
  /** A job or run; default: the first job. */
  baseline: z.optional(z.string()),
  ...reportParams,
  /** Metadata key of the scenarios. */
  group: z.optional(z.string().check(z.minLength(1), z.maxLength(256))),
  gate: z.optional(z.enum(gateKinds, `must be one of ${gateKinds.join(', ')}`)),
  /** Margin of the rule `non_inferior`. */
  margin: z.optional(numberParam),
  change: z.optional(z.enum(changeKinds, `must be one of ${changeKinds.join(', ')}`)),
})
export type CompareView = z.output<typeof CompareView>

export const comparePath = (view: Partial<CompareView>): string =>
  `${paths.compare()}${searchOf(view, { failures: 'zero', exclusions: 'apply' })}`

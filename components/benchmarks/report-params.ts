import * as z from 'zod/mini'
import type { ReportChoice } from '#lib/protocol/reports.ts'

const number = z.pipe(
  z.transform((value: string | number) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value)),
  z.number('must be a number'),
)

export const reportParams = {
  failures: z.optional(z.enum(['zero', 'leave_out'], 'must be zero or leave_out')),
  /** Default: each job's own metric. */
  metric: z.optional(z.string().check(z.maxLength(256))),
  /** Default: 1 for scores between 0 and 1. */
  threshold: z.optional(number),
}
const ReportParams = z.object(reportParams)

export const choiceOf = ({ failures = 'zero', metric, threshold }: z.output<typeof ReportParams>): ReportChoice => ({
  failures,
  metric,
  threshold,
})

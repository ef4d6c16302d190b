import * as z from 'zod/mini'
import type { ReportChoice } from '#lib/protocol/reports.ts'

export const numberParam = z.pipe(
  z.transform((value: string | number) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value)),
  z.number('must be a number'),
)

export const reportParams = {
  failures: z.optional(z.enum(['zero', 'leave_out'], 'must be zero or leave_out')),
  /** A reward key or built-in metric. Default: each job's own. */
  metric: z.optional(z.string().check(z.maxLength(256))),
  /** Default: lower for built-in metrics, otherwise higher. */
  direction: z.optional(z.enum(['higher', 'lower'], 'must be higher or lower')),
  /** Default: 1 for scores between 0 and 1. */
  threshold: z.optional(numberParam),
  exclusions: z.optional(z.enum(['apply', 'ignore'], 'must be apply or ignore')),
}
const ReportParams = z.object(reportParams)

export const choiceOf = ({
  failures = 'zero',
  metric,
  direction,
  threshold,
  exclusions,
}: z.output<typeof ReportParams>): ReportChoice => ({
  failures,
  metric,
  direction,
  threshold,
  exclusions: exclusions === 'ignore' ? exclusions : undefined,
})

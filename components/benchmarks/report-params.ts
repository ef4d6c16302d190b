import * as z from 'zod/mini'
import type { ReportChoice } from '#lib/protocol/reports.ts'

const number = z.pipe(
  z.transform((value: string | number) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value)),
  z.number('must be a number'),
)

/** How the numbers of a page are computed. */
export const reportChoice = {
  /** Absent: failures count 0. */
  failures: z.optional(z.enum(['zero', 'leave_out'], 'must be zero or leave_out')),
  /** The reward key to judge by. Absent: the one each job chose. */
  metric: z.optional(z.string().check(z.maxLength(256))),
  /** The score from which an attempt passes. Absent: 1 where all scores lie within 0 and 1. */
  threshold: z.optional(number),
}
const ReportChoiceView = z.object(reportChoice)

/** What every page that shows the numbers says in its address. */
export const choiceOf = ({
  failures = 'zero',
  metric,
  threshold,
}: z.output<typeof ReportChoiceView>): ReportChoice => ({
  failures,
  metric,
  threshold,
})

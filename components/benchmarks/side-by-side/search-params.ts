import * as z from 'zod/mini'
import { paths } from '#lib/browser/address/paths.ts'
import { searchOf } from '#lib/browser/address/search.ts'
import { reportParams } from '../report-params.ts'

const format = /^([^:]+):(.+?)(?::(\d{1,6}))?$/s
const side = z.optional(z.string().check(z.regex(format, 'must be job:run or job:run:attempt')))

export const SideBySideView = z.object({
  ...reportParams,
  /** Default: the first disagreement. */
  scenario: z.optional(z.string()),
  a: side,
  b: side,
})
export type SideBySideView = z.output<typeof SideBySideView>

export interface SideRef {
  job: string
  run: string
  attempt?: number | undefined
}

export const parseSide = (text: string): SideRef | null => {
  const [, job, run, attempt] = format.exec(text) ?? []
  return job === undefined || run === undefined
    ? null
    : { job, run, attempt: attempt === undefined ? undefined : Number(attempt) }
}

export const sideText = ({ job, run, attempt }: SideRef): string =>
  `${job}:${run}${attempt === undefined ? '' : `:${attempt}`}`

export const sideBySidePath = (view: Partial<SideBySideView>): string =>
  `${paths.sideBySide()}${searchOf(view, { failures: 'zero', exclusions: 'apply' })}`

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Direction, FailureRule, ReportChoice, ReportFormat } from '#lib/protocol/reports.ts'
import { HttpError, json } from '../http/handle-request.ts'

const rules: readonly FailureRule[] = ['zero', 'leave_out']
const exclusionChoices = ['apply', 'ignore'] as const
const directions: readonly Direction[] = ['higher', 'lower']

/**
 * Parses what all reports have in common; the first table is the default, and `more` names the other parameters. Throws 400 for
 * unknown or invalid ones.
 */
export const parseReportParams = <Table extends string>(
  searchParams: URLSearchParams,
  formats: readonly ReportFormat[],
  tables: readonly [Table, ...Table[]],
  more: readonly string[],
) => {
  for (const name of searchParams.keys()) {
    if (!['format', 'failures', 'metric', 'direction', 'threshold', 'exclusions', 'table', ...more].includes(name))
      throw new HttpError('invalid_argument', `Unknown report parameter ${name}`, { field: name })
    if (searchParams.getAll(name).length > 1)
      throw new HttpError('invalid_argument', `${name} can only be set once`, { field: name })
  }
  const group = searchParams.get('group') || undefined
  const table = oneOf('table', tables, searchParams.get('table') ?? tables[0])
  if (group === undefined && (table === 'groups' || table === 'group_pairs'))
    throw new HttpError('invalid_argument', `table=${table} requires a group`, { field: 'group' })
  const choice: ReportChoice = {
    failures: oneOf('failures', rules, searchParams.get('failures') ?? 'zero'),
    metric: searchParams.get('metric') || undefined,
    direction: directionOf(searchParams.get('direction')),
    threshold: numberOf('threshold', searchParams.get('threshold') || undefined),
    group,
    exclusions: oneOf('exclusions', exclusionChoices, searchParams.get('exclusions') ?? 'apply'),
  }
  return {
    format: oneOf('format', formats, searchParams.get('format') ?? 'json'),
    table,
    choice,
    param: (name: string) => searchParams.get(name) ?? undefined,
  }
}

const directionOf = (given: string | null): Direction | undefined =>
  given ? oneOf('direction', directions, given) : undefined

export const numberOf = (field: string, given: string | undefined): number | undefined => {
  if (given === undefined) return undefined
  if (!/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(given) || !Number.isFinite(Number(given)))
    throw new HttpError('invalid_argument', `${field} must be a number`, { field })
  return Number(given)
}

export const oneOf = <T extends string>(field: string, values: readonly T[], given: string): T => {
  const found = values.find((value) => value === given)
  if (found === undefined)
    throw new HttpError('invalid_argument', `${field} must be one of ${values.join(', ')}`, { field })
  return found
}

/** Runs a long computation step by step so that terminals in this process stay responsive. */
export const runInSteps = async <T>(steps: Generator<void, T>): Promise<T> => {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await nextTurn()
  }
}

const mediaTypes: Record<Exclude<ReportFormat, 'json'>, string> = {
  csv: 'text/csv',
  md: 'text/markdown',
  html: 'text/html',
  junit: 'application/xml',
}

type ReportWriters<R> = Partial<Record<Exclude<ReportFormat, 'json'>, (report: R) => string>>

export const respondIn = <R>(format: ReportFormat, report: R, writers: ReportWriters<R>): Response => {
  const write = format === 'json' ? undefined : writers[format]
  if (format === 'json' || !write) return json(report)
  return new Response(write(report), {
    headers: {
      'content-type': `${mediaTypes[format]}; charset=utf-8`,
      'content-disposition': `attachment; filename="benchmark-report.${format === 'junit' ? 'xml' : format}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  })
}

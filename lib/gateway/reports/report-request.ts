import type { FailureRule, ReportFormat, ReportTable } from '#lib/protocol/reports.ts'
import { HttpError } from '../http/handle-request.ts'

const formats: readonly ReportFormat[] = ['json', 'csv', 'md']
const tables: readonly ReportTable[] = ['agents', 'pairs', 'excluded_scenarios']
const rules: readonly FailureRule[] = ['zero', 'leave_out']

/** Parses a report request. Throws 400 for unknown parameters and invalid values. */
export const parseReportRequest = (request: Request, more: readonly string[]) => {
  const { searchParams } = new URL(request.url)
  for (const name of searchParams.keys()) {
    if (!['format', 'failures', 'metric', 'threshold', ...more].includes(name))
      throw new HttpError('invalid_argument', `Unknown report parameter ${name}`, { field: name })
    if (searchParams.getAll(name).length > 1)
      throw new HttpError('invalid_argument', `${name} can only be set once`, { field: name })
  }
  return {
    format: oneOf('format', formats, searchParams.get('format') ?? 'json'),
    rule: oneOf('failures', rules, searchParams.get('failures') ?? 'zero'),
    metric: searchParams.get('metric') || undefined,
    threshold: numberOf('threshold', searchParams.get('threshold') || undefined),
    table: oneOf('table', tables, searchParams.get('table') ?? 'agents'),
    param: (name: string) => searchParams.get(name) ?? undefined,
  }
}

const numberOf = (field: string, given: string | undefined): number | undefined => {
  if (given === undefined) return undefined
  if (!/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(given) || !Number.isFinite(Number(given)))
    throw new HttpError('invalid_argument', `${field} must be a number`, { field })
  return Number(given)
}

const oneOf = <T extends string>(field: string, values: readonly T[], given: string): T => {
  const found = values.find((value) => value === given)
  if (found === undefined)
    throw new HttpError('invalid_argument', `${field} must be one of ${values.join(', ')}`, { field })
  return found
}

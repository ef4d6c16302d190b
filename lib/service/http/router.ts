import { type FieldProblem, fieldProblems } from '#lib/contract/query-string.ts'
import { ServiceError } from '#lib/service/errors.ts'
import type { Route } from './implement.ts'

export interface Match {
  route: Route
  /** Decoded segments by name; checked against the endpoint's schema only by `parseParams`. */
  params: Record<string, string | undefined>
  /** After the `?`. */
  search: string
}

interface Found {
  match?: Match
  /** The methods of this path when it is known, but not under the request's method. */
  allow?: string[]
}

export type Router = (method: string, url: string) => Found

/**
 * Finds the route of a raw request target. Segments are decoded one by one and nothing is normalised: `..`, `//` and
 * `%2f` stay what they are and match no fixed segment. Fixed segments win over parameters.
 */
export const createRouter = (routes: readonly Route[]): Router => {
  const patterns = routes.map((route) => ({ route, segments: route.endpoint.path.slice(1).split('/') }))
  patterns.sort((a, b) => bySpecificity(a.segments, b.segments))

  return (method, url) => {
    const cut = url.indexOf('?')
    const path = cut === -1 ? url : url.slice(0, cut)
    const search = cut === -1 ? '' : url.slice(cut + 1)
    if (!path.startsWith('/')) return {}
    const given = path.slice(1).split('/').map(decode)
    const fitting = patterns.filter(({ segments }) => fits(segments, given))
    const chosen = fitting.find(({ route }) => route.endpoint.method === method)
    if (chosen) return { match: { route: chosen.route, params: readParams(chosen.segments, given), search } }
    return fitting.length > 0 ? { allow: [...new Set(fitting.map(({ route }) => route.endpoint.method))] } : {}
  }
}

/** The parameters by the endpoint's schema; throws 400 naming the first one at fault. */
export const parseParams = ({ route: { endpoint }, params }: Match): object => {
  for (const [name, value] of Object.entries(params))
    if (value === undefined) throw invalid({ field: name, message: 'is not valid percent-encoding' })
  if (!endpoint.params) return params
  const parsed = endpoint.params.safeParse(params)
  if (!parsed.success) throw invalid(fieldProblems(parsed.error)[0])
  return parsed.data as object
}

/** The 400 of one problem with the input. */
export const invalid = (problem: FieldProblem = { field: 'body', message: 'is not valid' }) =>
  new ServiceError('invalid_argument', `${problem.field}: ${problem.message}`, { field: problem.field })

/** Undefined for what is not valid percent-encoded UTF-8. */
const decode = (segment: string): string | undefined => {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

const isParam = (segment: string) => segment.startsWith(':')

const fits = (segments: readonly string[], given: readonly (string | undefined)[]) =>
  segments.length === given.length && segments.every((segment, i) => isParam(segment) || segment === given[i])

const readParams = (segments: readonly string[], given: readonly (string | undefined)[]) =>
  Object.fromEntries(segments.flatMap((segment, i) => (isParam(segment) ? [[segment.slice(1), given[i]]] : [])))

const bySpecificity = (a: readonly string[], b: readonly string[]): number => {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = Number(isParam(a[i] ?? '')) - Number(isParam(b[i] ?? ''))
    if (difference !== 0) return difference
  }
  return 0
}

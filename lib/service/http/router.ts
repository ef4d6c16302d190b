import { createMatcher } from '#lib/contract/endpoint.ts'
import { fieldProblems } from '#lib/contract/query-string.ts'
import { invalid } from '#lib/service/kit/errors.ts'
import type { Route } from './implement.ts'

export interface Match {
  route: Route
  params: Record<string, string | undefined>
  search: string
}

export type Router = (method: string, url: string) => { match?: Match; allow?: string[] }

/** Segments are decoded individually and never normalized, so `..`, `//` and `%2f` match no fixed segment. */
export const createRouter = (routes: readonly Route[]): Router => {
  const find = createMatcher(routes.map(({ endpoint }) => endpoint))
  const byEndpoint = new Map(routes.map((route) => [route.endpoint, route]))

  return (method, url) => {
    const cut = url.indexOf('?')
    const path = cut === -1 ? url : url.slice(0, cut)
    const search = cut === -1 ? '' : url.slice(cut + 1)
    if (!path.startsWith('/')) return {}
    const { match, allow } = find(method, path.slice(1).split('/').map(decode))
    const route = match && byEndpoint.get(match.endpoint)
    if (route) return { match: { route, params: match.params, search } }
    return allow ? { allow } : {}
  }
}

export const parseParams = ({ route: { endpoint }, params }: Match): object => {
  for (const [name, value] of Object.entries(params))
    if (value === undefined) throw invalid({ field: name, message: 'is not percent-encoded correctly' })
  if (!endpoint.params) return params
  const parsed = endpoint.params.safeParse(params)
  if (!parsed.success) throw invalid(...fieldProblems(parsed.error))
  return parsed.data as object
}

const decode = (segment: string): string | undefined => {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

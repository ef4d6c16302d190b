import * as z from 'zod/mini'
import { DevboxListQuery } from '#lib/contract/devboxes.ts'
import { paths } from './paths.ts'
import { pageDefaults, searchOf } from './search.ts'

/**
 * What the address of the devbox list says: the query of the API, and whether devboxes of benchmark trials are shown,
 * too. They would drown one's own, and the API has no filter for them.
 */
export const DevboxListView = z.extend(DevboxListQuery, {
  trials: z.optional(z.enum(['shown'], 'must be shown')),
})
export type DevboxListView = z.output<typeof DevboxListView>

/** The part of a view that the service answers. */
export const devboxQueryOf = ({ trials: _trials, ...query }: DevboxListView): DevboxListQuery => query

export const devboxListPath = (view: Partial<DevboxListView>): string =>
  `${paths.devboxes()}${searchOf(view, pageDefaults)}`

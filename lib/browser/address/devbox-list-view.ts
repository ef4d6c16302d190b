import * as z from 'zod/mini'
import { DevboxListQuery, type DevboxStatus, devboxStatuses } from '#lib/contract/devboxes.ts'
import { resourceSizes } from '#lib/contract/launch-parameters.ts'
import { isAge } from './age.ts'
import { paths } from './paths.ts'
import { pageDefaults, searchOf } from './search.ts'

/** What the disk of a devbox was made from. */
const devboxSources = ['blueprint', 'snapshot', 'none'] as const
/** Beside the sizes of the contract: none was asked for. */
export const devboxSizes = [...resourceSizes, 'default'] as const

const isStatus = (word: string): word is DevboxStatus => (devboxStatuses as readonly string[]).includes(word)
const Age = z.string().check(z.refine(isAge, 'must read like 30min, 24h or 7d'))

/**
 * What the address of the devbox list says: the query of the API, and beside it how the page narrows the devboxes that
 * are loaded, as the API has no such filters. Devboxes of benchmark trials would outnumber all others and are left out,
 * unless they are `shown` too, or asked for as the `only` ones.
 */
export const DevboxListView = z.extend(z.omit(DevboxListQuery, { origin: true }), {
  /** One status, which the service answers, or several parted by commas. */
  status: z.optional(
    z
      .string()
      .check(z.refine((text) => text.split(',').every(isStatus), `must be some of ${devboxStatuses.join(', ')}`)),
  ),
  trials: z.optional(z.enum(['shown', 'only'], 'must be shown or only')),
  source: z.optional(z.enum(devboxSources, `must be one of ${devboxSources.join(', ')}`)),
  size: z.optional(z.enum(devboxSizes, `must be one of ${devboxSizes.join(', ')}`)),
  /** Created longer ago than that. */
  older_than: z.optional(Age),
  younger_than: z.optional(Age),
  /** Which of its columns the page shows. */
  columns: z.optional(z.string()),
})
export type DevboxListView = z.output<typeof DevboxListView>

export const statusesOf = ({ status }: Pick<DevboxListView, 'status'>): DevboxStatus[] =>
  (status ?? '').split(',').filter(isStatus)

/** In the order a devbox lives through them, so that the same ones have one address. */
export const writeStatuses = (chosen: readonly DevboxStatus[]): string | undefined =>
  devboxStatuses.filter((status) => chosen.includes(status)).join(',') || undefined

/** The part of a view that the service answers. */
export const devboxQueryOf = ({
  status: _status,
  trials,
  source: _source,
  size: _size,
  older_than: _older,
  younger_than: _younger,
  columns: _columns,
  ...query
}: DevboxListView): DevboxListQuery => {
  const [status, ...more] = statusesOf({ status: _status })
  return {
    ...query,
    ...(status && more.length === 0 && { status }),
    ...(trials !== 'shown' && { origin: trials === 'only' ? 'trial' : 'own' }),
  }
}

export const devboxListPath = (view: Partial<DevboxListView>): string =>
  `${paths.devboxes()}${searchOf(view, pageDefaults)}`

import * as z from 'zod/mini'
import { paths } from '#lib/browser/address/paths.ts'
import { pageDefaults, searchOf } from '#lib/browser/address/search.ts'
import { sortingOf } from '#lib/browser/lists/service-sort.ts'
import { Id } from '#lib/contract/common.ts'
import { type Devbox, DevboxListQuery, type DevboxStatus, devboxStatuses, isOfTrial } from '#lib/contract/devboxes.ts'
import { resourceSizes } from '#lib/contract/launch-parameters.ts'
import { ageInMs, isAge } from './age.ts'

const devboxSources = ['blueprint', 'snapshot', 'none'] as const
export const devboxSizes = [...resourceSizes, 'default'] as const

const isStatus = (word: string): word is DevboxStatus => (devboxStatuses as readonly string[]).includes(word)
const Age = z.string().check(z.refine(isAge, 'must be an age like 30min, 24h or 7d'))

/** The API's query plus filters the API lacks, which apply to loaded rows. */
export const DevboxSearchParams = z.extend(z.omit(DevboxListQuery, { origin: true }), {
  /** Comma-separated. The API filters by one status, the page by several. */
  status: z.optional(
    z
      .string()
      .check(
        z.refine((text) => text.split(',').every(isStatus), `must be one or more of ${devboxStatuses.join(', ')}`),
      ),
  ),
  /** Devboxes of benchmark trials. Hidden by default, as they would outnumber all others. */
  trials: z.optional(z.enum(['shown', 'only'], 'must be shown or only')),
  blueprint: z.optional(Id),
  source: z.optional(z.enum(devboxSources, `must be one of ${devboxSources.join(', ')}`)),
  size: z.optional(z.enum(devboxSizes, `must be one of ${devboxSizes.join(', ')}`)),
  older_than: z.optional(Age),
  younger_than: z.optional(Age),
  sort: z.optional(z.string()),
  columns: z.optional(z.string()),
})
export type DevboxSearchParams = z.output<typeof DevboxSearchParams>

export const devboxesPath = (params: Partial<DevboxSearchParams>): string =>
  `${paths.devboxes()}${searchOf(params, pageDefaults)}`

export const parseStatuses = ({ status }: Pick<DevboxSearchParams, 'status'>): DevboxStatus[] =>
  (status ?? '').split(',').filter(isStatus)

/** In one order, so that the same statuses have one address. */
export const formatStatuses = (chosen: readonly DevboxStatus[]): string | undefined =>
  devboxStatuses.filter((status) => chosen.includes(status)).join(',') || undefined

/** Parameters that the page applies itself. */
export const pageFilters = ['status', 'trials', 'blueprint', 'source', 'size', 'older_than', 'younger_than'] as const

export const devboxQueryOf = ({
  status: _status,
  trials,
  blueprint: _blueprint,
  source: _source,
  size: _size,
  older_than: _older,
  younger_than: _younger,
  columns: _columns,
  sort,
  ...query
}: DevboxSearchParams): DevboxListQuery => {
  const [status, ...more] = parseStatuses({ status: _status })
  return {
    ...query,
    ...(status && more.length === 0 && { status }),
    ...(trials !== 'shown' && { origin: trials === 'only' ? 'trial' : 'own' }),
    ...sortingOf(sort, sortFields),
  }
}

const sortFields = { name: 'name', status: 'status', id: 'id', created: 'create_time_ms', ended: 'end_time_ms' }

export const devboxFilter = (
  params: Pick<DevboxSearchParams, (typeof pageFilters)[number]>,
  nowMs: number,
): ((devbox: Devbox) => boolean) => {
  const { trials, blueprint, source, size, older_than, younger_than } = params
  const statuses: readonly string[] = parseStatuses(params)
  const beforeMs = older_than && nowMs - ageInMs(older_than)
  const afterMs = younger_than && nowMs - ageInMs(younger_than)
  return (devbox) =>
    (statuses.length === 0 || statuses.includes(devbox.status)) &&
    (trials === 'shown' || isOfTrial(devbox) === (trials === 'only')) &&
    (blueprint === undefined || devbox.blueprint_id === blueprint) &&
    (source === undefined || sourceOf(devbox) === source) &&
    (size === undefined || (devbox.launch_parameters.resource_size_request ?? 'default') === size) &&
    (!beforeMs || devbox.create_time_ms < beforeMs) &&
    (!afterMs || devbox.create_time_ms > afterMs)
}

/** A devbox with both comes from the snapshot, whose blueprint it also reports. */
const sourceOf = ({ snapshot_id, blueprint_id }: Devbox) =>
  snapshot_id ? 'snapshot' : blueprint_id ? 'blueprint' : 'none'

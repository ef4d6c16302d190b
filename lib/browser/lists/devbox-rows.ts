import { type Devbox, isOfTrial } from '#lib/contract/devboxes.ts'
import { ageInMs } from '../address/age.ts'
import { type DevboxListView, statusesOf } from '../address/devbox-list-view.ts'

/** Parts of the view that the page answers from what is loaded. */
export const devboxFilterNames = ['status', 'trials', 'source', 'size', 'older_than', 'younger_than'] as const

/** The filters only the page has. */
export const devboxesShownBy = (
  view: Pick<DevboxListView, (typeof devboxFilterNames)[number]>,
  nowMs: number,
): ((devbox: Devbox) => boolean) => {
  const { trials, source, size, older_than, younger_than } = view
  const statuses: readonly string[] = statusesOf(view)
  const beforeMs = older_than && nowMs - ageInMs(older_than)
  const afterMs = younger_than && nowMs - ageInMs(younger_than)
  return (devbox) =>
    (statuses.length === 0 || statuses.includes(devbox.status)) &&
    (trials === 'shown' || isOfTrial(devbox) === (trials === 'only')) &&
    (source === undefined || sourceOf(devbox) === source) &&
    (size === undefined || (devbox.launch_parameters.resource_size_request ?? 'default') === size) &&
    // A devbox whose service does not tell its age is left out only where an age is asked for.
    (!beforeMs || devbox.create_time_ms < beforeMs) &&
    (!afterMs || devbox.create_time_ms > afterMs)
}

/** A snapshot wins: a blueprint beside it is where that came from. */
const sourceOf = ({ snapshot_id, blueprint_id }: Devbox) =>
  snapshot_id ? 'snapshot' : blueprint_id ? 'blueprint' : 'none'

import type { AxonStore } from './store/axons.ts'

/** What routes work with. Made once per service, in `service.ts`. */
export interface Deps {
  version: string
  /** How devboxes are kept apart from this machine. */
  isolation: 'bubblewrap' | 'none'
  /** Milliseconds since the epoch. */
  now: () => number
  store: { axons: AxonStore }
}

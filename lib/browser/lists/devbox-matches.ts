import { type Devbox, type DevboxListQuery, isOfTrial } from '#lib/contract/devboxes.ts'
import { matcher } from './row-filters.ts'

export const devboxMatches = matcher<DevboxListQuery, Devbox>({
  status: (devbox, status) => devbox.status === status,
  node: ({ node: of }, node) => of?.id === node || of?.hostname === node,
  origin: (devbox, origin) => isOfTrial(devbox) === (origin === 'trial'),
})

import { ApiError, type Client } from '#lib/client/client.ts'
import { browserApi } from '../api/browser-api.ts'
import { LogFeed } from '../live/log-feed.ts'

/** The log of a devbox, to be followed while it is on screen. Not in the query cache: nothing else reads it. */
export const devboxLog = (devboxId: string, api: Client = browserApi): LogFeed =>
  new LogFeed({
    open: (signal) => api.logs.tail({ params: { id: devboxId }, signal }),
    isLost: (error) => error instanceof ApiError && gone.has(error.code),
  })

const gone = new Set<string>(['not_found', 'unauthenticated', 'not_implemented', 'forbidden'])

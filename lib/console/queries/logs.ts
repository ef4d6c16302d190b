import { follow } from '../live/follow.ts'
import { LogFeed } from '../live/log-feed.ts'

/** The log of a devbox, to be followed while it is on screen. Not in the query cache: nothing else reads it. */
export const devboxLog = (id: string): LogFeed =>
  new LogFeed((options) => follow({ endpoint: 'logs.tail', params: { id } }, options))

import { LiveState } from '#components/ui/live-badge.tsx'
import { problemOf } from '#components/ui/problem.ts'
import type { LogState } from './log-reader.ts'

export const LogStatus = ({ log: { health, hasEnded, error } }: { log: LogState }) => {
  if (error !== null) return <span className="text-danger">Couldn't follow the log: {problemOf(error).message}</span>
  if (hasEnded) return 'The devbox has ended. The log is complete.'
  return <LiveState health={health} what="the log" />
}

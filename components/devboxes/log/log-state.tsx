import { LiveState } from '#components/ui/live-badge.tsx'
import { problemOf } from '#components/ui/problem.ts'
import type { RecordsState } from './followed-records.ts'

/** How far what is made of the log of a devbox can be trusted. */
export const LogState = ({ log: { health, hasEnded, lost } }: { log: RecordsState }) => {
  if (lost !== null) return <span className="text-danger">The log cannot be followed: {problemOf(lost).message}</span>
  if (hasEnded) return 'The devbox has ended; this is all of its log'
  return <LiveState health={health} what="the log" />
}

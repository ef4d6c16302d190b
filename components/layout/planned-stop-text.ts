import { formatCountdown, formatCountOf, formatElapsedMs } from '#lib/browser/format.ts'
import type { PlannedStop } from '#lib/contract/drain.ts'

export const plannedStopTitle = ({ deadline_ms }: PlannedStop, nowMs: number): string =>
  nowMs < deadline_ms
    ? `The service restarts once running work has finished, at the latest in ${formatCountdown(deadline_ms - nowMs)}.`
    : 'The service is restarting.'

export const sinceText = ({ since_ms }: PlannedStop, nowMs: number): string =>
  `New devboxes, commands, jobs, snapshots and builds have been rejected for ${formatElapsedMs(nowMs - since_ms)}.`

/** Which of the account's work the stop interrupts, and which goes on. */
export const effectTexts = (stop: PlannedStop): string[] => {
  const running = [
    ...(stop.commands > 0 ? [formatCountOf(stop.commands, 'command')] : []),
    ...(stop.trials > 0 ? [formatCountOf(stop.trials, 'trial')] : []),
    ...(stop.snapshots > 0 ? [formatCountOf(stop.snapshots, 'snapshot')] : []),
    ...(stop.builds > 0 ? [formatCountOf(stop.builds, 'build')] : []),
  ]
  const { devboxes_restarting: restarting, devboxes_staying: staying } = stop
  return [
    ...(running.length > 0
      ? [`Waiting for ${new Intl.ListFormat('en').format(running)}; what still runs at the deadline is interrupted.`]
      : []),
    ...(restarting > 0
      ? [
          `${formatCountOf(restarting, 'devbox', 'devboxes')} will start again with ${restarting === 1 ? 'its disk; its' : 'their disks; their'} shells end.`,
        ]
      : []),
    ...(staying > 0 ? [`${formatCountOf(staying, 'devbox keeps', 'devboxes keep')} running.`] : []),
  ]
}

import { formatCountdown, formatCountOf, formatElapsedMs } from '#lib/browser/format.ts'
import type { PlannedStop, RunningWork } from '#lib/contract/drain.ts'

export const plannedStopTitle = ({ deadline_ms }: PlannedStop, nowMs: number): string =>
  nowMs < deadline_ms
    ? `The service restarts once running work has finished, at the latest in ${formatCountdown(deadline_ms - nowMs)}.`
    : 'The service is restarting.'

export const sinceText = ({ since_ms }: PlannedStop, nowMs: number): string =>
  `New devboxes, commands, jobs, snapshots and builds have been rejected for ${formatElapsedMs(nowMs - since_ms)}.`

/** How the stop affects the account's work. */
export const effectTexts = (stop: PlannedStop): string[] => {
  const counts = [
    [stop.commands, 'command'],
    [stop.shells ?? 0, 'shell in use', 'shells in use'],
    [stop.trials, 'trial'],
    [stop.scorings ?? 0, 'scoring'],
    [stop.snapshots, 'snapshot'],
    [stop.builds, 'build'],
  ] as const
  const running = counts.flatMap(([count, one, many]) => (count > 0 ? [formatCountOf(count, one, many)] : []))
  const { devboxes_restarting: restarting, devboxes_staying: staying } = stop
  return [
    ...(running.length > 0
      ? [
          `Waiting for ${new Intl.ListFormat('en').format(running)}; anything still running at the deadline is interrupted.`,
        ]
      : []),
    ...(restarting > 0
      ? [
          `${formatCountOf(restarting, 'devbox', 'devboxes')} will restart with ${restarting === 1 ? 'its disk; its' : 'their disks; their'} shells end.`,
        ]
      : []),
    ...(staying > 0 ? [`${formatCountOf(staying, 'devbox keeps', 'devboxes keep')} running.`] : []),
  ]
}

const labels: Record<string, string> = {
  command: 'Command',
  shell: 'Shell',
  trial: 'Trial of',
  scoring: 'Scoring of',
  snapshot: 'Snapshot',
  build: 'Build of',
}

export const workLabel = ({ kind }: RunningWork): string => labels[kind] ?? kind

/** Why a shell counts as work; undefined for other work. */
export const shellUse = ({ kind, program }: RunningWork): string | undefined =>
  kind === 'shell' ? (program ? `running ${program}` : 'used recently') : undefined

import { formatCountOf, formatDurationMs } from '#lib/browser/format.ts'
import type { Storage } from '#lib/contract/storage.ts'

const labels: Record<string, string> = {
  snapshots: 'Snapshots',
  objects: 'Objects',
  blueprints: 'Blueprints',
  axons: 'Axon SQL databases',
  outputs: 'Command output',
  run_logs: 'Run logs',
}

/** Deleted by the service some time after their devbox or run has ended. */
const expiring: ReadonlySet<string> = new Set(['outputs', 'run_logs'])

export interface StoredKind {
  kind: string
  label: string
  bytes: number
  kept: string
}

/** Largest first. */
export const storedKinds = ({ stored_bytes, keep_ended_seconds }: Storage): StoredKind[] =>
  Object.entries(stored_bytes)
    .filter(([, bytes]) => bytes > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([kind, bytes]) => ({
      kind,
      label: labels[kind] ?? kind,
      bytes,
      kept:
        expiring.has(kind) && keep_ended_seconds !== null
          ? `${timeText(keep_ended_seconds)} after the end`
          : labels[kind]
            ? 'Until deleted'
            : 'Unknown',
    }))

export const keptText = (seconds: number | null): string =>
  seconds === null
    ? 'Output, logs and records of ended devboxes, commands, jobs and runs are kept until they are pruned.'
    : `Output, logs and records of devboxes, commands, jobs and runs are deleted ${timeText(seconds)} after they have ended, or earlier when the disk is full.`

/** Above this, the next snapshot or upload may be rejected. */
export const nearlyFull = 0.9

const timeText = (seconds: number): string =>
  seconds % 86_400 === 0 ? formatCountOf(seconds / 86_400, 'day') : formatDurationMs(seconds * 1000)

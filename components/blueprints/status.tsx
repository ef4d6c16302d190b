import { CircleCheck, CircleX, Hourglass, LoaderCircle, Trash2, Upload } from 'lucide-react'
import { Badge, StateBadge, type StateLook } from '#components/ui/badge.tsx'
import { useClock } from '#components/ui/use-clock.ts'
import { formatDurationMs, formatElapsedMs } from '#lib/browser/format.ts'
import { type Blueprint, type BlueprintStatus, isBuilding } from '#lib/contract/blueprints.ts'

export const BlueprintStatusBadge = ({ blueprint: { status, state } }: { blueprint: Blueprint }) =>
  state === 'deleted' ? (
    <Badge tone="neutral" icon={Trash2}>
      Deleted
    </Badge>
  ) : (
    <StateBadge looks={looks} state={status} />
  )

const looks: Record<BlueprintStatus, StateLook> = {
  queued: { tone: 'neutral', icon: Hourglass, word: 'Queued' },
  provisioning: { tone: 'progress', icon: LoaderCircle, word: 'Provisioning' },
  building: { tone: 'progress', icon: LoaderCircle, word: 'Building' },
  awaiting_upload: { tone: 'progress', icon: Upload, word: 'Awaiting upload' },
  failed: { tone: 'danger', icon: CircleX, word: 'Failed' },
  build_complete: { tone: 'ok', icon: CircleCheck, word: 'Ready' },
}

export const blueprintStatusWords = Object.fromEntries(
  Object.entries(looks).map(([status, { word }]) => [status, word]),
) as Record<BlueprintStatus, string>

/** Why no devbox can be created from a blueprint, or null. */
export const newDevboxRefusal = ({ status, state }: Blueprint): string | null => {
  if (state === 'deleted') return 'the blueprint is deleted'
  if (status === 'build_complete') return null
  return status === 'failed' ? 'the build failed' : 'the build is not complete'
}

export const deleteRefusal = ({ state }: Blueprint): string | null =>
  state === 'deleted' ? 'the blueprint is deleted' : null

/** Undefined if the build neither runs nor reports its end. */
export const buildMs = (blueprint: Blueprint, nowMs: number): number | undefined => {
  const { create_time_ms, build_finish_time_ms } = blueprint
  const endMs = build_finish_time_ms ?? (isBuilding(blueprint.status) ? nowMs : undefined)
  return endMs === undefined ? undefined : Math.max(0, endMs - create_time_ms)
}

/** From creation to the end of the build, including time in the queue. */
export const BuildTime = ({ blueprint }: { blueprint: Blueprint }) => {
  const text = useClock((nowMs) => {
    const ms = buildMs(blueprint, nowMs)
    if (ms === undefined) return ''
    return isBuilding(blueprint.status) ? formatElapsedMs(ms) : formatDurationMs(ms)
  })
  return (
    <span suppressHydrationWarning className="tabular">
      {text}
    </span>
  )
}

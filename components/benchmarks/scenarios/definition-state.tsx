import { Archive, CircleCheck } from 'lucide-react'
import { StateBadge, type StateLook } from '#components/ui/badge.tsx'
import type { definitionStatuses } from '#lib/contract/scenarios.ts'

const looks: Record<(typeof definitionStatuses)[number], StateLook> = {
  active: { tone: 'ok', icon: CircleCheck, word: 'Active' },
  archived: { tone: 'neutral', icon: Archive, word: 'Archived' },
}

/** Of a scenario or a benchmark. */
export const DefinitionState = ({ status }: { status: string }) => <StateBadge looks={looks} state={status} />

import { Timer } from 'lucide-react'
import { Badge } from '#components/ui/badge.tsx'
import type { Eviction } from '#lib/contract/evictions.ts'
import { Countdown } from './countdown.tsx'

export const EvictionBadge = ({ eviction }: { eviction: Eviction }) => (
  <Badge tone="attention" icon={Timer} title="At the deadline it is suspended: its disk stays, its processes end">
    Evicted in <Countdown eviction={eviction} />
  </Badge>
)

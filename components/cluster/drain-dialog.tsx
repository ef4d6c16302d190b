'use client'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { cutEnd } from '#components/ui/text.ts'
import { toast } from '#components/ui/toast.tsx'
import { formatCountOf } from '#lib/browser/format.ts'
import type { Cluster, ClusterNode } from '#lib/contract/cluster.ts'
import { amount } from './capacity.tsx'
import { isUsable } from './node-state.tsx'
import { clusterMutations } from './queries.ts'

const deadlines = [
  { value: '0', label: 'now' },
  { value: '120', label: 'in 2 minutes' },
  { value: '300', label: 'in 5 minutes' },
  { value: '1200', label: 'in 20 minutes' },
  { value: '3600', label: 'in 1 hour' },
  { value: '14400', label: 'in 4 hours' },
]

interface DrainDialogProps {
  cluster: Cluster
  node: ClusterNode
  /** The node's id or hostname in the request. */
  id: string
  onClose: () => void
}

export const DrainDialog = ({ cluster, node, id, onClose }: DrainDialogProps) => {
  const [seconds, setSeconds] = useState('1200')
  const name = cutEnd(node.hostname, 60)
  const drain = useMutation({
    ...clusterMutations.drain(),
    onSuccess: () => {
      toast.ok(`Draining ${name}`)
      onClose()
    },
  })
  const others = cluster.nodes.filter((other) => other.id !== node.id && isUsable(other))
  const free = (total: 'cpu_cores' | 'memory_bytes') =>
    others.reduce((sum, other) => sum + Math.max(0, other[total] - other[`reserved_${total}`]), 0)
  return (
    <FormDialog
      open
      onOpenChange={onClose}
      size="sm"
      title={`Drain ${name}?`}
      busy={drain.isPending}
      error={drain.error}
      needs="/api/cluster"
      submitLabel="Drain node"
      onSubmit={() => drain.mutate({ id, seconds: Number(seconds) })}
    >
      <div className="space-y-2">
        <p>{consequence(node, cluster)}</p>
        <p className="text-muted">{name} gets no new devboxes until you activate it.</p>
      </div>
      <SelectField label="Deadline" options={deadlines} value={seconds} onPick={setSeconds} />
      <Facts>
        <Fact label="Reserved here">
          {amount(node.reserved_cpu_cores, 'cores')}, {amount(node.reserved_memory_bytes, 'bytes')}
        </Fact>
        <Fact label="Free elsewhere">
          {others.length === 0
            ? 'No other node accepts devboxes'
            : `${amount(free('cpu_cores'), 'cores')}, ${amount(free('memory_bytes'), 'bytes')} on ${formatCountOf(others.length, 'node')}`}
        </Fact>
      </Facts>
    </FormDialog>
  )
}

export const consequence = ({ hostname, devboxes }: ClusterNode, { registry }: Pick<Cluster, 'registry'>): string => {
  if (devboxes === 0) return 'It has no devboxes.'
  const [subject, their, still, they] =
    devboxes === 1
      ? ['1 devbox gets', 'its disk', 'If it is still running at the deadline, it is', 'it']
      : [`${devboxes} devboxes get`, 'their disks', 'Those still running at the deadline are', 'they']
  const after = registry
    ? `${devboxes === 1 ? 'It' : 'They'} can be resumed on another node.`
    : `There is no registry, so ${their} ${devboxes === 1 ? 'stays' : 'stay'} on ${cutEnd(hostname, 60)}: ${they} can't be resumed until it is active again.`
  return `${subject} an eviction notice. ${still} suspended: processes end, ${their} ${devboxes === 1 ? 'is' : 'are'} kept. ${after}`
}

'use client'
import { Pencil, Trash2 } from 'lucide-react'
import { DevboxUsers } from '#components/record/devbox-users.tsx'
import { RecordSheet } from '#components/record/record-sheet.tsx'
import { Button } from '#components/ui/button.tsx'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { NetworkPolicy } from '#lib/contract/network-policies.ts'
import { policyQueries } from './queries.ts'
import { flagLabels, flagsOf, portsText } from './rules.ts'

interface PolicySheetProps {
  id: string
  listed: NetworkPolicy | undefined
  onEdit: (policy: NetworkPolicy) => void
  onDelete: (policy: NetworkPolicy) => void
  onClose: () => void
}

export const PolicySheet = ({ id, listed, onEdit, onDelete, onClose }: PolicySheetProps) => (
  <RecordSheet noun="network policy" id={id} listed={listed} query={policyQueries.get(id)} onClose={onClose}>
    {(policy) => (
      <>
        <div className="flex flex-wrap gap-2">
          <Button icon={Pencil} needs="networkPolicies.update" onClick={() => onEdit(policy)}>
            Edit network policy
          </Button>
          <Button icon={Trash2} needs="networkPolicies.delete" onClick={() => onDelete(policy)}>
            Delete network policy
          </Button>
        </div>
        <Facts>
          <Fact label="ID">
            <CopyableId value={policy.id} full />
          </Fact>
          {policy.description && (
            <Fact label="Description">
              <VisibleText max={2000}>{policy.description}</VisibleText>
            </Fact>
          )}
          <Fact label="Created">
            <RelativeTime ms={policy.create_time_ms} />
          </Fact>
          <Fact label="Updated">
            <RelativeTime ms={policy.update_time_ms} />
          </Fact>
        </Facts>
        <Allowed egress={policy.egress} />
        <DevboxUsers uses={({ launch_parameters }) => launch_parameters.network_policy_id === policy.id} />
      </>
    )}
  </RecordSheet>
)

const Allowed = ({ egress }: Pick<NetworkPolicy, 'egress'>) => {
  const { allow_all, allowed_hostnames: hosts, allowed_cidrs: cidrs } = egress
  const flags = flagsOf(egress)
  return (
    <section aria-labelledby="allowed" className="space-y-2">
      <h3 id="allowed" className="font-medium">
        Allowed outgoing connections
      </h3>
      {allow_all ? (
        <p>All</p>
      ) : hosts.length + cidrs.length + flags.length === 0 ? (
        <p className="text-muted">None</p>
      ) : (
        <ul className="max-h-80 overflow-y-auto rounded-md border border-line px-3 py-2 text-sm leading-6">
          {hosts.map((host) => (
            <li key={host} className="font-mono break-all">
              {host}
            </li>
          ))}
          {cidrs.map(({ cidr, ports }) => (
            <li key={`${cidr} ${portsText(ports)}`} className="font-mono break-all">
              {cidr} <span className="text-muted">{portsText(ports) || 'all ports'}</span>
            </li>
          ))}
          {flags.map((flag) => (
            <li key={flag}>{flagLabels[flag]}</li>
          ))}
        </ul>
      )}
    </section>
  )
}

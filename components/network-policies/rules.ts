import type { KeyValueRow } from '#components/ui/key-values.ts'
import { formatCountOf } from '#lib/browser/format.ts'
import type { Egress } from '#lib/contract/network-policies.ts'

type AllowedCidr = Egress['allowed_cidrs'][number]
type PortRule = NonNullable<AllowedCidr['ports']>[number]

/** Ports as `443, 8000-8100/tcp`; empty for all. */
export const portsText = (ports: AllowedCidr['ports']): string =>
  (ports ?? [])
    .map(({ port, end_port, protocol }) =>
      [port, end_port != null && end_port !== port && `-${end_port}`, protocol && `/${protocol.toLowerCase()}`]
        .filter(Boolean)
        .join(''),
    )
    .join(', ')

/** Undefined if the text is malformed. */
export const parsePorts = (text: string): PortRule[] | undefined => {
  const rules = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => /^(\d{1,5})(?:\s*-\s*(\d{1,5}))?(?:\/(tcp|udp))?$/i.exec(part))
  if (rules.some((rule) => rule === null)) return undefined
  return rules.flatMap((rule) => {
    const [, port, end, protocol] = rule ?? []
    return {
      port: Number(port),
      ...(end && { end_port: Number(end) }),
      ...(protocol && { protocol: protocol.toUpperCase() as 'TCP' | 'UDP' }),
    }
  })
}

export const cidrRows = (cidrs: readonly AllowedCidr[]): KeyValueRow[] =>
  cidrs.map(({ cidr, ports }) => ({ key: cidr, value: portsText(ports) }))

export const flagLabels = {
  allow_devbox_to_devbox: 'Other devboxes of the account',
  allow_agent_gateway: 'Agent gateway',
  allow_mcp_gateway: 'MCP gateway',
  allow_runloop_mirrors: 'Package mirrors of the service',
} as const satisfies Partial<Record<keyof Egress, string>>

type Flag = keyof typeof flagLabels

export const flagsOf = (egress: Egress): Flag[] => (Object.keys(flagLabels) as Flag[]).filter((flag) => egress[flag])

/** What devboxes may connect to, in one line. */
export const egressText = (egress: Egress): string => {
  if (egress.allow_all) return 'All connections'
  const { allowed_hostnames: hosts, allowed_cidrs: cidrs } = egress
  const parts = [
    hosts.length > 0 && formatCountOf(hosts.length, 'host name'),
    cidrs.length > 0 && formatCountOf(cidrs.length, 'IP range'),
    ...flagsOf(egress).map((flag) => flagLabels[flag].toLowerCase().replace('mcp', 'MCP')),
  ].filter((part) => part !== false)
  return parts.length > 0 ? parts.join(', ') : 'Nothing'
}

'use client'
import { useSupport } from '#components/settings/support-queries.ts'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { Section } from '#components/ui/section.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import type { Devbox } from '#lib/contract/devboxes.ts'

/** The gateways and MCP servers of a devbox, by the environment variables that lead to them. Nothing if it has none. */
export const DevboxSpecs = ({ devbox: { gateway_specs, mcp_specs } }: { devbox: Devbox }) => {
  const specs = [
    ...Object.entries(gateway_specs ?? {}).map(([variable, { gateway_config_id, secret_id }]) => ({
      variable,
      what: 'Gateway',
      id: gateway_config_id,
      href: paths.gateway(gateway_config_id),
      endpoint: 'gatewayConfigs.get',
      secret_id,
    })),
    ...Object.entries(mcp_specs ?? {}).map(([variable, { mcp_config_id, secret_id }]) => ({
      variable,
      what: 'MCP server',
      id: mcp_config_id,
      href: paths.mcpServer(mcp_config_id),
      endpoint: 'mcpConfigs.get',
      secret_id,
    })),
  ]
  if (specs.length === 0) return null
  return (
    <Section title="Gateways and MCP servers">
      <Facts>
        {specs.map(({ variable, what, id, href, endpoint, secret_id }) => (
          <Fact key={`${what} ${variable}`} label={<span className="font-mono">{variable}</span>}>
            {what} <ConfigLink id={id} href={href} endpoint={endpoint} />
            <span className="block text-sm text-muted">
              with secret <span className="font-mono break-all">{secret_id}</span>
            </span>
          </Fact>
        ))}
      </Facts>
    </Section>
  )
}

const ConfigLink = ({ id, href, endpoint }: { id: string; href: string; endpoint: string }) =>
  useSupport(endpoint) === 'no' ? (
    <span className="font-mono break-all">{id}</span>
  ) : (
    <TextLink href={href} className="font-mono break-all">
      {id}
    </TextLink>
  )

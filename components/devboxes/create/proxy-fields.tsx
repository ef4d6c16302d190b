'use client'
import { useQuery } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { useController } from 'react-hook-form'
import { jobPartQueries } from '#components/benchmarks/create/queries.ts'
import { Button } from '#components/ui/button.tsx'
import { FieldError } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Input } from '#components/ui/input.tsx'
import { useRefusal } from '#components/ui/refusals.ts'
import { ChoiceField } from './choice-field.tsx'
import { choiceQueries } from './choice-queries.ts'
import { FieldGroup } from './form-fields.tsx'
import type { DevboxFormValues, ProxyRow } from './form-schema.ts'

/** Gateways and MCP servers, which add a secret to requests of the devbox without showing it the value. */
export const ProxyFields = () => (
  <FieldGroup title="Gateways and MCP servers" fields={['gateways', 'mcpServers']}>
    <ProxyRows
      name="gateways"
      noun="gateway"
      legend="Gateways"
      query={choiceQueries.gateways}
      variable="Prefix"
      placeholder="GITHUB"
      hint="Sets PREFIX_URL and PREFIX in the devbox."
      unsupported={useRefusal('hostedOnly.createGatewayToken')}
    />
    <ProxyRows
      name="mcpServers"
      noun="MCP server"
      legend="MCP servers"
      query={choiceQueries.mcpServers}
      variable="Variable"
      placeholder="MCP_TOKEN"
      hint="Sets the variable to a token for the server."
      unsupported={useRefusal('hostedOnly.createMcpToken')}
    />
  </FieldGroup>
)

interface ProxyRowsProps {
  name: 'gateways' | 'mcpServers'
  noun: string
  legend: string
  query: Parameters<typeof ChoiceField>[0]['query']
  variable: string
  placeholder: string
  hint: string
  unsupported: string | null
}

const ProxyRows = ({ name, noun, legend, query, variable, placeholder, hint, unsupported }: ProxyRowsProps) => {
  const { field, fieldState } = useController<DevboxFormValues, typeof name>({ name })
  const secrets = useQuery({ ...jobPartQueries.secretNames(), retry: false })
  const rows: ProxyRow[] = field.value
  const change = (at: number, part: Partial<ProxyRow>) =>
    field.onChange(rows.map((row, index) => (index === at ? { ...row, ...part } : row)))
  return (
    <fieldset className="min-w-0 space-y-2">
      <legend className="mb-1 font-medium">{legend}</legend>
      <datalist id={`${name}-secrets`}>
        {secrets.data?.map((secret) => (
          <option key={secret} value={secret} />
        ))}
      </datalist>
      {rows.map((row, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows are edited in place and have no other identity
        <div key={at} className="flex flex-wrap items-center gap-1.5">
          <span className="min-w-0 flex-1 basis-28">
            <Input
              mono
              aria-label={`${variable} of ${noun} ${at + 1}`}
              placeholder={placeholder}
              value={row.variable}
              onChange={({ target }) => change(at, { variable: target.value })}
            />
          </span>
          <ChoiceField
            isCell
            label={`Config of ${noun} ${at + 1}`}
            query={query}
            value={row.config}
            onPick={(config) => change(at, { config })}
            empty={`Select a${noun.startsWith('M') ? 'n' : ''} ${noun}`}
          />
          <span className="min-w-0 flex-1 basis-28">
            <Input
              mono
              aria-label={`Secret of ${noun} ${at + 1}`}
              placeholder="secret name"
              list={`${name}-secrets`}
              value={row.secret}
              onChange={({ target }) => change(at, { secret: target.value })}
            />
          </span>
          <IconButton
            size="sm"
            icon={X}
            label={`Remove ${noun} ${at + 1}`}
            onClick={() => field.onChange(rows.filter((_, index) => index !== at))}
          />
        </div>
      ))}
      {fieldState.error && <FieldError>{fieldState.error.message}</FieldError>}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button
          size="sm"
          icon={Plus}
          disabledReason={unsupported}
          onClick={() => field.onChange([...rows, { variable: '', config: '', secret: '' }])}
        >
          {`Add ${noun}`}
        </Button>
        <span className="text-sm text-muted">{unsupported ?? hint}</span>
      </div>
    </fieldset>
  )
}

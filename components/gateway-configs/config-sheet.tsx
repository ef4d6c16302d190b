'use client'
import type { QueryKey, UseQueryOptions } from '@tanstack/react-query'
import { Pencil, Trash2 } from 'lucide-react'
import { DevboxUsers } from '#components/record/devbox-users.tsx'
import { RecordSheet } from '#components/record/record-sheet.tsx'
import { Button } from '#components/ui/button.tsx'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { Devbox } from '#lib/contract/devboxes.ts'
import { authText } from './auth-text.ts'
import type { ConfigRecord } from './config-record.ts'

interface ConfigSheetProps<Config extends ConfigRecord> {
  noun: string
  resource: 'gatewayConfigs' | 'mcpConfigs'
  id: string
  listed: Config | undefined
  query: UseQueryOptions<Config, Error, Config, QueryKey>
  uses: (devbox: Devbox, id: string) => boolean
  onEdit: (config: Config) => void
  onDelete: (config: Config) => void
  onClose: () => void
}

export const ConfigSheet = <Config extends ConfigRecord>({
  noun,
  resource,
  id,
  listed,
  query,
  uses,
  onEdit,
  onDelete,
  onClose,
}: ConfigSheetProps<Config>) => (
  <RecordSheet noun={noun} id={id} listed={listed} query={query} onClose={onClose}>
    {(config) => (
      <>
        <div className="flex flex-wrap gap-2">
          <Button icon={Pencil} needs={`${resource}.update`} onClick={() => onEdit(config)}>{`Edit ${noun}`}</Button>
          <Button
            icon={Trash2}
            needs={`${resource}.delete`}
            onClick={() => onDelete(config)}
          >{`Delete ${noun}`}</Button>
        </div>
        <Facts>
          <Fact label="ID">
            <CopyableId value={config.id} full />
          </Fact>
          {config.description && (
            <Fact label="Description">
              <VisibleText max={2000}>{config.description}</VisibleText>
            </Fact>
          )}
          <Fact label="URL" className="font-mono text-sm break-all">
            {config.endpoint}
          </Fact>
          <Fact label="Authentication">{authText(config.auth_mechanism)}</Fact>
          {config.allowed_tools && (
            <Fact label="Allowed tools" className="font-mono text-sm break-all">
              {config.allowed_tools.join(', ') || 'None'}
            </Fact>
          )}
          <Fact label="Created">
            <RelativeTime ms={config.create_time_ms} />
          </Fact>
        </Facts>
        {(config.custom_headers ?? []).length > 0 && (
          <section aria-label="Headers" className="space-y-1">
            <h3 className="font-medium">Headers</h3>
            <Facts mono>
              {config.custom_headers?.map(({ name, secret, value }) => (
                <Fact key={name} label={name} className="break-all">
                  {secret == null ? value : `secret ${secret}`}
                </Fact>
              ))}
            </Facts>
          </section>
        )}
        <DevboxUsers uses={(devbox) => uses(devbox, config.id)} />
      </>
    )}
  </RecordSheet>
)

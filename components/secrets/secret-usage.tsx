'use client'
import { useQuery } from '@tanstack/react-query'
import { useSupport } from '#components/settings/support-queries.ts'
import { InlineError } from '#components/ui/error-state.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { isUnsupported } from '#lib/browser/api/failures.ts'
import { formatCountOf } from '#lib/browser/format.ts'
import type { SecretUser, SecretUsage as Usage } from '#lib/contract/secrets.ts'
import { secretQueries } from './queries.ts'

/** What uses a secret, as far as the service reports it. */
export const SecretUsage = ({ name }: { name: string }) => {
  const { query, isUnknown } = useSecretUsage(name)
  if (isUnknown) return <p className="text-muted">This service doesn't report where a secret is used.</p>
  if (query.error && !query.data) return <InlineError error={query.error} />
  if (!query.data) return <p className="animate-appear-late text-muted">Loading usage</p>
  const { users, has_more } = query.data
  if (users.length === 0) return <p className="text-muted">Not used by any devbox, job, blueprint or config</p>
  return (
    <>
      <ul aria-label="Used by" className="divide-y divide-line rounded-md border border-line">
        {users.map((user) => (
          <li key={user.id} className="flex min-h-9 flex-wrap items-center gap-x-3 px-3 py-1.5">
            <span className="min-w-0 flex-1 basis-40 truncate">
              <UserName user={user} /> <span className="text-muted">{kindOf(user)}</span>
            </span>
            <span className="max-w-full font-mono text-sm break-all text-muted">{user.variables.join(', ')}</span>
          </li>
        ))}
      </ul>
      {has_more && <p className="text-sm text-muted">{`Shows the first ${users.length}`}</p>}
    </>
  )
}

export const useSecretUsage = (name: string) => {
  const support = useSupport('secrets.usage')
  const query = useQuery({ ...secretQueries.usage(name), enabled: support !== 'no' })
  return { query, isUnknown: support === 'no' || isUnsupported(query.error) }
}

/** Such as `2 devboxes and 1 blueprint`; empty if nothing uses it. */
export const usersText = ({ users, has_more }: Usage): string => {
  if (has_more) return `More than ${users.length} records`
  const counts = Object.entries(kinds).flatMap(([type, [one, many]]) => {
    const count = users.filter((user) => user.type === type).length
    return count > 0 ? [formatCountOf(count, one, many)] : []
  })
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(counts)
}

const kinds: Record<string, [one: string, many: string, href?: (id: string) => string]> = {
  devbox: ['devbox', 'devboxes', (id) => paths.devbox(id)],
  blueprint: ['blueprint', 'blueprints', (id) => paths.blueprint(id)],
  benchmark_job: ['benchmark job', 'benchmark jobs', (id) => paths.benchmarkJob(id)],
  gateway_config: ['gateway', 'gateways', (id) => paths.gateway(id)],
  mcp_config: ['MCP server', 'MCP servers', (id) => paths.mcpServer(id)],
}

const kindOf = ({ type }: SecretUser) => kinds[type]?.[0] ?? type

const UserName = ({ user: { type, id, name } }: { user: SecretUser }) => {
  const text = <VisibleText max={120}>{name || id}</VisibleText>
  const href = kinds[type]?.[2]?.(id)
  return href ? <TextLink href={href}>{text}</TextLink> : text
}

'use client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { CommandBlock } from '#components/ui/command-block.tsx'
import { ErrorState } from '#components/ui/error-state.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { browserApi } from '#lib/browser/api/browser-api.ts'
import { formatBytes } from '#lib/browser/format.ts'
import { type Storage, storage } from '#lib/contract/storage.ts'
import { keptText, nearlyFull, storedKinds } from './storage-text.ts'
import { useSupport } from './support-queries.ts'

const api = browserApi({ storage })

const storageQuery = () =>
  queryOptions({ queryKey: ['storage'], queryFn: ({ signal }) => api.storage.get({ signal }), staleTime: 0 })

/** Hidden where the service doesn't report it. */
export const StorageSection = () => (useSupport('storage.get') === 'yes' ? <StorageUse /> : null)

const StorageUse = () => {
  const query = useQuery(storageQuery())
  const { data, error } = query
  return (
    <section aria-labelledby="storage" className="min-w-0 space-y-3">
      <h2 id="storage" className="text-lg font-medium">
        Storage
      </h2>
      {error && !data && <ErrorState compact title="Couldn't load the storage" error={error} query={query} />}
      {data ? <Use storage={data} /> : !error && <p className="text-muted">Loading…</p>}
    </section>
  )
}

const Use = ({ storage }: { storage: Storage }) => {
  const { limit_bytes, keep_ended_seconds } = storage
  const kinds = storedKinds(storage)
  const total = kinds.reduce((sum, { bytes }) => sum + bytes, 0)
  return (
    <>
      <div className="space-y-1.5">
        <p className="tabular">
          <span className="font-medium">{formatBytes(total)}</span>
          {limit_bytes === null ? ' stored; no limit' : ` of ${formatBytes(limit_bytes)}`}
        </p>
        {limit_bytes !== null && limit_bytes > 0 && <Share value={total / limit_bytes} />}
        {limit_bytes !== null && total >= limit_bytes * nearlyFull && (
          <p className="text-attention">
            At the limit, the service rejects commands, snapshots, objects and builds. Delete some of it, or ask the
            operator to raise --max-storage.
          </p>
        )}
      </div>
      {kinds.length === 0 ? (
        <p className="text-muted">
          Nothing is stored yet. Snapshots, objects, blueprints, command output and logs count.
        </p>
      ) : (
        <table className="w-full text-left">
          <caption className="sr-only">Stored bytes by kind</caption>
          <thead className="border-b border-line text-sm text-muted">
            <tr>
              <th scope="col" className="py-1.5 pr-4 font-medium">
                Kind
              </th>
              <th scope="col" className="py-1.5 pr-4 text-right font-medium">
                Size
              </th>
              <th scope="col" className="py-1.5 font-medium">
                Kept
              </th>
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {kinds.map(({ kind, label, bytes, kept }) => (
              <tr key={kind}>
                <th scope="row" className="py-1.5 pr-4 font-normal">
                  <VisibleText max={60}>{label}</VisibleText>
                </th>
                <td className="tabular py-1.5 pr-4 text-right whitespace-nowrap">{formatBytes(bytes)}</td>
                <td className="py-1.5 text-muted">{kept}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p className="max-w-prose text-muted">
        {keptText(keep_ended_seconds)} Disks of devboxes don't count.{' '}
        <TextLink href={paths.doc('recovery', 'retention')} className="underline">
          More about retention
        </TextLink>
      </p>
      <p className="text-muted">To see what can be deleted now, run on the service's host:</p>
      <CommandBlock
        command={`npm run service -- prune ${keep_ended_seconds === null ? '--older-than 30d ' : ''}--dry-run`}
      />
    </>
  )
}

/** Hidden from screen readers because the text has the numbers. */
const Share = ({ value }: { value: number }) => (
  <svg aria-hidden viewBox="0 0 100 6" preserveAspectRatio="none" className="h-1.5 w-full rounded-full">
    <rect width={100} height={6} className="fill-(--surface-3)" />
    <rect
      width={Math.min(100, value * 100)}
      height={6}
      className={value >= nearlyFull ? 'fill-(--attention)' : 'fill-(--accent)'}
    />
  </svg>
)

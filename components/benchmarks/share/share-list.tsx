import { useMutation } from '@tanstack/react-query'
import Link from 'next/link'
import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCountOf } from '#lib/browser/format.ts'
import type { Share } from '#lib/protocol/shares.ts'
import { sharedPath, shareMutations } from './queries.ts'

const kinds: Record<Share['kind'], string> = { job: 'Job', comparison: 'Comparison', trend: 'Trend' }

export const ShareLinks = ({ shares, label }: { shares: readonly Share[]; label: string }) => (
  <ul aria-label={label} className="divide-y divide-line border-y border-line">
    {shares.map((share) => (
      <ShareLink key={share.id} share={share} />
    ))}
  </ul>
)

const ShareLink = ({ share }: { share: Share }) => {
  const { id, kind, title, logs, by, created_ms, expires_ms, n_opened, last_opened_ms } = share
  const [isConfirming, setIsConfirming] = useState(false)
  const revoke = useMutation(shareMutations.revoke())
  return (
    <li className="flex items-center gap-3 py-2">
      <div className="min-w-0 flex-1">
        <p className="truncate">
          <Link href={sharedPath(share)} prefetch={false} className="hover:underline">
            {kinds[kind]} <VisibleText max={120}>{title}</VisibleText>
          </Link>
          {logs && <span className="text-muted"> with logs</span>}
        </p>
        <p className="text-sm text-muted">
          Created <RelativeTime ms={created_ms} /> by <VisibleText max={80}>{by}</VisibleText>, expires{' '}
          <RelativeTime ms={expires_ms} />.{' '}
          {n_opened === 0 || last_opened_ms === null ? (
            'Never opened.'
          ) : (
            <>
              Opened {formatCountOf(n_opened, 'time')}, last <RelativeTime ms={last_opened_ms} />.
            </>
          )}
        </p>
      </div>
      <Button
        size="sm"
        needs="/api/shares"
        onClick={() => {
          revoke.reset()
          setIsConfirming(true)
        }}
      >
        Revoke
      </Button>
      <ConfirmDialog
        open={isConfirming}
        onOpenChange={setIsConfirming}
        title="Revoke link?"
        consequence="Anyone who opens the link from now on sees that it no longer works."
        needs="/api/shares"
        confirmLabel="Revoke link"
        busy={revoke.isPending}
        error={revoke.error}
        onConfirm={() => revoke.mutate(id, { onSuccess: () => setIsConfirming(false) })}
      />
    </li>
  )
}

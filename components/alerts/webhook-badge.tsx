'use client'
import { Webhook } from 'lucide-react'
import Link from 'next/link'
import { toneClasses } from '#components/ui/badge.tsx'
import { classes } from '#components/ui/classes.ts'
import { paths } from '#lib/browser/address/paths.ts'
import type { WebhookFailure } from '#lib/protocol/alerts.ts'

/** In the header while what is outside of the console is not told of alerts. */
export const WebhookBadge = ({ failure: { host, answer } }: { failure: WebhookFailure }) => (
  <Link
    href={`${paths.evictions()}#webhook`}
    prefetch={false}
    title={`Alerts do not reach ${host}: ${answer}`}
    className={classes('inline-flex h-7 items-center gap-1.5 rounded-full border px-2 text-sm', toneClasses.attention)}
  >
    <Webhook aria-hidden className="size-3.5" />
    <span className="max-lg:sr-only">Webhook fails</span>
  </Link>
)

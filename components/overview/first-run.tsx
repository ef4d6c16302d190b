'use client'
import { useQuery } from '@tanstack/react-query'
import { ArrowRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { TextLink } from '#components/ui/text-link.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { overviewQueries } from './queries.ts'

/** Shown while the account has no devboxes. */
export const FirstRun = () => {
  const { data } = useQuery(overviewQueries.totals())
  if (!data || data.trials > 0 || Object.values(data.counts).some((count) => count > 0)) return null
  return (
    <section aria-labelledby="first-run" className="mb-8 rounded-md border border-line bg-surface-1 p-4">
      <h2 id="first-run" className="text-lg font-medium">
        Get started
      </h2>
      <ol className="mt-3 grid gap-x-8 gap-y-4 md:grid-cols-3">
        <Step title="Create a devbox" href={paths.devboxes()} action="Create a devbox">
          An isolated sandbox with its own disk and terminals.
        </Step>
        <Step title="Load sample data" href={paths.benchmarkJobs()} action="Benchmark jobs">
          Run <code className="font-mono text-text">npm run demo</code> in the Devdeck folder to create devboxes, axons
          and benchmark jobs.
        </Step>
        <Step title="Practice an eviction" href={paths.evictions()} action="Evictions">
          Start a drill on a running devbox to see how evictions are announced.
        </Step>
      </ol>
    </section>
  )
}

const Step = ({
  title,
  href,
  action,
  children,
}: {
  title: string
  href: string
  action: string
  children: ReactNode
}) => (
  <li className="space-y-1">
    <h3 className="font-medium">{title}</h3>
    <p className="text-muted">{children}</p>
    <TextLink href={href} className="inline-flex items-center gap-1">
      {action} <ArrowRight aria-hidden className="size-3.5" />
    </TextLink>
  </li>
)

import type { ReactNode } from 'react'
import { paths } from '#lib/browser/address/paths.ts'

const lists = [
  ['Overview', paths.overview()],
  ['Devboxes', paths.devboxes()],
  ['Axons', paths.axons()],
  ['Snapshots', paths.snapshots()],
  ['Blueprints', paths.blueprints()],
  ['Benchmark jobs', paths.benchmarkJobs()],
  ['Benchmark runs', paths.benchmarkRuns()],
  ['Scenarios', paths.scenarios()],
] as const

/** Plain elements only: Next sends this along with every page. */
export const NoSuchPage = ({ children }: { children?: ReactNode }) => (
  <div className="mx-auto flex max-w-2xl flex-col items-center gap-3 px-4 pt-[12dvh] text-center">
    <h1 className="text-lg font-medium">Page not found</h1>
    <p className="max-w-prose text-lg text-balance text-muted">
      The address may be mistyped, or the page may have moved in another version of the console.
    </p>
    {children}
    <nav aria-label="Lists" className="flex flex-wrap justify-center gap-x-4 gap-y-1">
      {lists.map(([name, href]) => (
        <a key={href} href={href} className="inline-flex min-h-6 items-center font-medium text-accent hover:underline">
          {name}
        </a>
      ))}
    </nav>
  </div>
)

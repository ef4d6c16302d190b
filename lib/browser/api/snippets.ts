import { encodeQuery } from '#lib/contract/encode-query.ts'
import { type AxonView, apiQueryOf } from '../address/axon-view.ts'
import { type DevboxListView, devboxQueryOf } from '../address/devbox-list-view.ts'
import type { JobListView } from '../address/job-list-view.ts'
import { jobQueryOf } from '../address/job-list-view.ts'
import { withoutColumns } from '../address/list-columns.ts'
import { pageDefaults } from '../address/search.ts'
import { snapshotQueryOf } from '../address/snapshot-list-view.ts'
import { activeFilters, type ListSource, type ListView } from '../lists/list-source.ts'
import { publicClient } from './code-samples.ts'

/** Code that lists what the page shows. A comment names the filters that the API lacks. */

interface ListCall {
  path: string
  method: string
  queryOf: (view: never) => object
  /** Other filters and sorting that only the page applies. */
  alsoOnPage?: (view: never) => string[]
  /** The field with the rows, where the client returns a single page. */
  rows?: string
}

const calls: Readonly<Record<string, ListCall>> = {
  axons: {
    path: '/v1/axons',
    method: 'axons.list',
    queryOf: (view: AxonView) => ({ ...apiQueryOf(view), limit: view.limit }),
    alsoOnPage: ({ sort }: AxonView) => (sort ? [`sorted by ${sort}`] : []),
  },
  devboxes: {
    path: '/v1/devboxes',
    method: 'devboxes.list',
    // The public client doesn't support `origin`.
    queryOf: (view: DevboxListView) => ({ ...devboxQueryOf(view), origin: undefined }),
    alsoOnPage: ({ trials }: DevboxListView) => (trials ? [] : ['without the devboxes of benchmark trials']),
  },
  snapshots: { path: '/v1/devboxes/disk_snapshots', method: 'devboxes.diskSnapshots.list', queryOf: snapshotQueryOf },
  jobs: {
    path: '/v1/benchmark_jobs',
    method: 'benchmarkJobs.list',
    queryOf: (view: JobListView) => jobQueryOf(view),
    rows: 'jobs',
  },
  runs: { path: '/v1/benchmark_runs', method: 'benchmarkRuns.list', queryOf: withoutColumns },
  scenarios: { path: '/v1/scenarios', method: 'scenarios.list', queryOf: withoutColumns },
}

export interface ShownList<View extends ListView> {
  source: Pick<ListSource<View, never, never, never>, 'noun' | 'nouns' | 'filters'>
  view: View
}

const read = <View extends ListView>({ source, view }: ShownList<View>) => {
  const call = calls[source.nouns]
  if (!call) throw new Error(`No call lists ${source.nouns}`)
  const query = call.queryOf(view as never) as Record<string, unknown>
  const parameters = encodeQuery(
    Object.fromEntries(
      Object.entries(query).filter(([name, value]) => value !== (pageDefaults as Record<string, unknown>)[name]),
    ),
  )
  const ofPage = Object.entries(source.filters).filter(([name]) => query[name] !== view[name as keyof View])
  const filters = Object.fromEntries(ofPage) as typeof source.filters
  const texts = [
    ...activeFilters({ filters, path: () => '' }, { ...view, metadata: undefined }).map(({ text }) => text),
    ...(call.alsoOnPage?.(view as never) ?? []),
  ]
  return { call, parameters, texts }
}

const comment = (mark: string, texts: readonly string[]): string =>
  // Without line breaks, which would end the comment.
  texts.length > 0
    ? `${mark} Also applied by the page, not by the API: ${texts.join('; ').replace(/[\r\n\u2028\u2029]/g, ' ')}\n`
    : ''

export const asCurl = <View extends ListView>(list: ShownList<View>, serviceUrl: string): string => {
  const { call, parameters, texts } = read(list)
  // --globoff: brackets are ranges to curl otherwise.
  const url = `${serviceUrl}${call.path}${parameters && `?${parameters}`}`.replaceAll("'", '%27')
  return `${comment('#', texts)}curl --globoff '${url}' \\\n  -H "Authorization: Bearer $DEVDECK_API_KEY"`
}

export const asTypeScript = <View extends ListView>(list: ShownList<View>, serviceUrl: string): string => {
  const { call, parameters, texts } = read(list)
  const fields = [...new URLSearchParams(parameters)].map(([name, value]) => {
    const isPlain = name === 'limit' || name === 'include_total_count'
    return `  ${/^\w+$/.test(name) ? name : JSON.stringify(name)}: ${isPlain ? value : JSON.stringify(value)},\n`
  })
  const request = `client.${call.method}(${fields.length > 0 ? `{\n${fields.join('')}}` : ''})`
  const { noun } = list.source
  const rows = call.rows ? `const { ${call.rows} } = await ${request}\nfor (const ${noun} of ${call.rows} ?? [])` : null
  return `${publicClient(serviceUrl)}
${comment('//', texts)}${rows ?? `for await (const ${noun} of ${request})`} console.log(${noun}.id, ${noun}.name)
`
}

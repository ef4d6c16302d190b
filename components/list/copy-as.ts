import { pageDefaults } from '#lib/browser/address/search.ts'
import {
  type CodeSamples,
  publicClient,
  pythonArguments,
  pythonClient,
  pythonName,
} from '#lib/browser/api/code-samples.ts'
import { encodeQuery } from '#lib/contract/encode-query.ts'
import { activeFilters, type ListParams, type ListSource } from './list-source.ts'

export interface ListCall<Params> {
  path: string
  method: string
  /** Set if the client returns one page, with its rows under this name, instead of iterating over all rows. */
  rows?: string
  pageOnly?: (params: Params) => string[]
}

export interface CopiedList<Params extends ListParams, ListQuery> {
  source: Pick<ListSource<Params, ListQuery, never, never, never>, 'noun' | 'filters' | 'queryOf'>
  call: ListCall<Params>
  params: Params
}

const describe = <Params extends ListParams, ListQuery>({ source, call, params }: CopiedList<Params, ListQuery>) => {
  // The public API has no `origin` and doesn't sort. The axon page chooses its own page size unless the address names one.
  const query: Record<string, unknown> = {
    ...source.queryOf(params),
    origin: undefined,
    sort: undefined,
    order: undefined,
    limit: (params as { limit?: number }).limit,
  }
  const parameters = encodeQuery(
    Object.fromEntries(
      Object.entries(query).filter(([name, value]) => value !== (pageDefaults as Record<string, unknown>)[name]),
    ),
  )
  const pageFilters = Object.entries(source.filters).filter(([name]) => query[name] !== params[name as keyof Params])
  const differences = [
    ...activeFilters(
      { filters: Object.fromEntries(pageFilters), path: () => '' },
      { ...params, metadata: undefined },
    ).map(({ text }) => text),
    ...(call.pageOnly?.(params) ?? []),
    ...(params.sort ? [`sorted by ${params.sort}`] : []),
  ]
  return { parameters, differences }
}

const comment = (mark: string, differences: readonly string[]): string =>
  differences.length > 0
    ? // Line ends would end the comment.
      `${mark} The page also applies, unlike the API: ${differences.join('; ').replace(/[\r\n\u2028\u2029]/g, ' ')}\n`
    : ''

export const listSamples = <Params extends ListParams, ListQuery>(
  list: CopiedList<Params, ListQuery>,
  serviceUrl: string,
): CodeSamples => ({
  curl: asCurl(list, serviceUrl),
  Python: asPython(list, serviceUrl),
  TypeScript: asTypeScript(list, serviceUrl),
})

const asCurl = <Params extends ListParams, ListQuery>(
  list: CopiedList<Params, ListQuery>,
  serviceUrl: string,
): string => {
  const { parameters, differences } = describe(list)
  // --globoff: curl would expand brackets. %27: a quote would end the shell's string.
  const url = `${serviceUrl}${list.call.path}${parameters && `?${parameters}`}`.replaceAll("'", '%27')
  return `${comment('#', differences)}curl --globoff '${url}' \\\n  -H "Authorization: Bearer $DEVDECK_API_KEY"`
}

const asTypeScript = <Params extends ListParams, ListQuery>(
  list: CopiedList<Params, ListQuery>,
  serviceUrl: string,
): string => {
  const { parameters, differences } = describe(list)
  const { method, rows } = list.call
  const { noun } = list.source
  const fields = [...new URLSearchParams(parameters)].map(([name, value]) => {
    const isLiteral = name === 'limit' || name === 'include_total_count'
    return `  ${/^\w+$/.test(name) ? name : JSON.stringify(name)}: ${isLiteral ? value : JSON.stringify(value)},\n`
  })
  const request = `client.${method}(${fields.length > 0 ? `{\n${fields.join('')}}` : ''})`
  const loop = rows
    ? `const { ${rows} } = await ${request}\nfor (const ${noun} of ${rows} ?? [])`
    : `for await (const ${noun} of ${request})`
  return `${publicClient(serviceUrl)}
${comment('//', differences)}${loop} console.log(${noun}.id, ${noun}.name)
`
}

const asPython = <Params extends ListParams, ListQuery>(
  list: CopiedList<Params, ListQuery>,
  serviceUrl: string,
): string => {
  const { parameters, differences } = describe(list)
  const { method, rows } = list.call
  const { limit, ...query } = Object.fromEntries(new URLSearchParams(parameters))
  // The client knows few parameters by name.
  const extra = Object.keys(query).length > 0 ? query : undefined
  const request = `client.${pythonName(method)}(${pythonArguments([], { limit: limit && Number(limit), extra_query: extra })})`
  const { noun } = list.source
  const row = pythonName(noun.replaceAll(' ', '_'))
  return `${pythonClient(serviceUrl)}
${comment('#', differences)}for ${row} in ${rows ? `${request}.${rows}` : request}:
    print(${row}.id, ${row}.name)
`
}

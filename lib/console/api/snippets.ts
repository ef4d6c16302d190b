import { encodeQuery } from '#lib/contract/encode-query.ts'
import { type AxonFilter, type AxonView, apiQueryOf } from '../address/axon-view.ts'
import { publicClient } from './public-client.ts'

/** The list a page shows, as calls to paste elsewhere. What the API cannot filter is said in a comment. */

const parametersOf = (view: AxonView) => encodeQuery({ ...withoutDefaults(apiQueryOf(view)), limit: view.limit })

const withoutDefaults = ({ include_total_count, ...filter }: AxonFilter) =>
  include_total_count ? filter : { ...filter, include_total_count }

const pageOnly = ({ state, created, sort }: AxonView): string[] => [
  ...(state ? [`only ${state} ones`] : []),
  ...(created ? [`created ${created}`] : []),
  ...(sort ? [`sorted by ${sort}`] : []),
]

const comment = (view: AxonView, mark: string): string => {
  const parts = pageOnly(view)
  // No line end, so that nothing in it leaves the comment.
  return parts.length > 0
    ? `${mark} The page also shows them ${parts.join(', ').replace(/[\r\n\u2028\u2029]/g, ' ')}; the API does not.\n`
    : ''
}

export const asCurl = (view: AxonView, serviceUrl: string): string => {
  const parameters = parametersOf(view)
  // Brackets are ranges to curl unless it is told otherwise; a quote would end the shell's.
  const url = `${serviceUrl}/v1/axons${parameters && `?${parameters}`}`.replaceAll("'", '%27')
  return `${comment(view, '#')}curl --globoff '${url}' \\\n  -H "Authorization: Bearer $DEVDECK_API_KEY"`
}

export const asTypeScript = (view: AxonView, serviceUrl: string): string => {
  const fields = [...new URLSearchParams(parametersOf(view))].map(([name, value]) => {
    const isPlain = name === 'limit' || name === 'include_total_count'
    return `  ${/^\w+$/.test(name) ? name : JSON.stringify(name)}: ${isPlain ? value : JSON.stringify(value)},\n`
  })
  const query = fields.length > 0 ? `{\n${fields.join('')}}` : ''
  return `${publicClient(serviceUrl)}
${comment(view, '//')}for await (const axon of client.axons.list(${query})) console.log(axon.id, axon.name)
`
}

import { registry } from '../registry/registry.ts'

// The push services of Chrome, Edge, Firefox and Safari. Browsers name the address that messages are sent to, and any
// person may subscribe, so other hosts would let them send requests through the console.
const known =
  /^(fcm\.googleapis\.com|jmt17\.google\.com|updates\.push\.services\.mozilla\.com|([\w-]+\.)*push\.apple\.com|([\w-]+\.)*notify\.windows\.com)$/

/** Services that the operator configured may have private addresses. */
export const isConfiguredPushHost = (host: string): boolean =>
  registry().config.pushServices.some((origin) => new URL(origin).host === host)

export const isPushEndpoint = (endpoint: string): boolean => {
  const url = URL.parse(endpoint)
  if (url === null || `${url.username}${url.password}` !== '') return false
  if (registry().config.pushServices.includes(url.origin)) return true
  return url.protocol === 'https:' && url.port === '' && known.test(url.hostname)
}

/** A part of a line of output that leads somewhere. */
export interface FoundLink {
  start: number
  end: number
  target: LinkTarget
}

export type LinkTarget =
  | { kind: 'web'; url: URL }
  /** An address that means the devbox itself. */
  | { kind: 'port'; port: number; path: string; url: URL }
  | { kind: 'file'; path: string }

const maxUrlLength = 2048

/** Addresses and files in a line of output, in order and apart from each other. */
export const findLinks = (text: string): FoundLink[] => {
  const links = findAddresses(text)
  for (const file of findFiles(text))
    if (!links.some(({ start, end }) => file.start < end && start < file.end)) links.push(file)
  return links.sort((a, b) => a.start - b.start)
}

// White space, quotes, brackets that hold addresses, lines of tables, and the full stops of languages without spaces.
const address =
  /(?:https?:\/\/|(?<![\p{L}\p{N}._/@:-])(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):(?=\d))[^\p{White_Space}\p{Cc}\p{Cf}"'`<>\\^{|}\u2500-\u259f\u3001\u3002\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f\u300a-\u3011]+/giu

const findAddresses = (text: string): FoundLink[] =>
  [...text.matchAll(address)].flatMap(({ 0: match, index }) => {
    const shown = withoutTail(match)
    const target = linkTarget(/^https?:/i.test(shown) ? shown : `http://${shown}`)
    return target ? [{ start: index, end: index + shown.length, target }] : []
  })

/** An address in a sentence, without what belongs to the sentence: its full stop, and a bracket it did not open. */
const withoutTail = (match: string): string => {
  const count = (character: string) => match.split(character).length - 1
  const unopened: Record<string, number> = { ')': count(')') - count('('), ']': count(']') - count('[') }
  let end = match.length
  for (; end > 0; end--) {
    const last = match.charAt(end - 1)
    const over = unopened[last]
    if (over === undefined ? !/[.,;:!?*_~]/.test(last) : over <= 0) break
    if (over !== undefined) unopened[last] = over - 1
  }
  return match.slice(0, end)
}

/** What an address leads to; null for what is none, and for every scheme but http and https. */
export const linkTarget = (text: string): LinkTarget | null => {
  if (text.length > maxUrlLength) return null
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') return null
  if (!/^(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\])$/.test(url.hostname)) return { kind: 'web', url }
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  return { kind: 'port', port, path: url.pathname + url.search + url.hash, url }
}

// From / or ~/ or ./ or ../ on, or with a folder before and an ending after; then perhaps a line and a column.
const file =
  /(?<![\p{L}\p{N}_/.~:@%+=-])(?:(?:~|\.{1,2})?\/[\p{L}\p{N}_.@%+=~,-]+(?:\/[\p{L}\p{N}_.@%+=~,-]+)*|[\p{L}\p{N}_.@%+=-]+(?:\/[\p{L}\p{N}_.@%+=-]+)*\/[\p{L}\p{N}_@%+=-][\p{L}\p{N}_.@%+=-]*\.[\p{L}\p{N}]{1,12})(?=$|[^\p{L}\p{N}_/])/gu

const findFiles = (text: string): FoundLink[] =>
  [...text.matchAll(file)].flatMap(({ 0: match, index }) => {
    const path = match.replace(/[.,~=-]+$/, '')
    // A rate, a date, a division.
    if (!/[\p{L}_]/u.test(path) || path.length > 1024) return []
    return [{ start: index, end: index + path.length, target: { kind: 'file', path } }]
  })

/** The path as the devbox is asked for it: relative ones begin where its shell stands. */
export const fileInDevbox = (path: string, cwd: string | undefined): string =>
  cwd === undefined || /^[~/]/.test(path) ? path : `${cwd.replace(/\/$/, '')}/${path}`

/**
 * The address a link's text seems to name, when its target is another one; null when the text names none, as "docs"
 * does, or is true.
 */
export const otherAddress = (text: string, target: URL): string | null => {
  const label = text.trim().replace(/[\p{Cf}\p{Cc}]/gu, '')
  const named =
    /^[^\p{L}\p{N}]*((?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^\s/@]+@)?((?:[\p{L}\p{N}-]+\.)+[\p{L}]{2,}|\d+(?:\.\d+){3}|\[[\da-f:]+\]|localhost)(?::\d+)?(?:[/?#]\S*)?)/iu.exec(
      label,
    )
  const [, shown, host] = named ?? []
  if (!shown || !host) return null
  const isAddress = shown.startsWith('www.') || shown.includes('/') || commonEnding.test(host) || isMachine.test(host)
  if (!isAddress) return null
  const whole = shown.replace(/(?:…|\.\.\.)$/, '')
  const url = URL.parse(whole.includes('://') ? whole : `${target.protocol}//${whole}`)
  if (!url) return shown
  const plain = ({ hostname }: URL) => hostname.replace(/^www\./, '')
  if (plain(url) !== plain(target) || url.port !== target.port) return shown
  const path = (url.pathname + url.search).replace(/\/$/, '')
  return (target.pathname + target.search).startsWith(path) ? null : shown
}

/** Endings that a name without anything else around it is more likely to have as a host than as a file. */
const commonEnding = /\.(?:com|org|net|io|dev|ai|app|gov|edu|co|us|uk|de|fr|eu|info|biz|cloud|tech|xyz|site|online)$/i

const isMachine = /^(?:localhost|[\d.]+|\[.*)$/i

/** The address in the parts a reader has to tell apart: what comes before its host, the host, and the rest. */
export const addressParts = (url: URL): { before: string; host: string; after: string } => {
  const login = url.username || url.password ? `${url.username}${url.password ? ':…' : ''}@` : ''
  return {
    before: `${url.protocol}//${login}`,
    host: url.host,
    after: url.pathname === '/' && !url.search && !url.hash ? '' : url.pathname + url.search + url.hash,
  }
}

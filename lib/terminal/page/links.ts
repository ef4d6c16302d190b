export interface FoundLink {
  start: number
  end: number
  target: LinkTarget
}

export type LinkTarget =
  | { kind: 'web'; url: URL }
  | { kind: 'port'; port: number; path: string; url: URL }
  | { kind: 'file'; path: string }

const maxUrlLength = 2048

/** URLs and file paths in a line of output, in order and without overlaps. */
export const findLinks = (text: string): FoundLink[] => {
  const links = findAddresses(text)
  for (const file of findFiles(text))
    if (!links.some(({ start, end }) => file.start < end && start < file.end)) links.push(file)
  return links.sort((a, b) => a.start - b.start)
}

// Ends at whitespace, quotes, enclosing brackets, table borders and CJK full stops.
const address =
  /(?:https?:\/\/|(?<![\p{L}\p{N}._/@:-])(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):(?=\d))[^\p{White_Space}\p{Cc}\p{Cf}"'`<>\\^{|}\u2500-\u259f\u3001\u3002\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f\u300a-\u3011]+/giu

const findAddresses = (text: string): FoundLink[] =>
  [...text.matchAll(address)].flatMap(({ 0: match, index }) => {
    const shown = trimPunctuation(match)
    const target = linkTarget(/^https?:/i.test(shown) ? shown : `http://${shown}`)
    return target ? [{ start: index, end: index + shown.length, target }] : []
  })

/** Strips trailing punctuation and unbalanced brackets. */
const trimPunctuation = (match: string): string => {
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

export const linkTarget = (text: string): LinkTarget | null => {
  if (text.length > maxUrlLength) return null
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') return null
  if (!/^(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\])$/.test(url.hostname)) return { kind: 'web', url }
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  return { kind: 'port', port, path: url.pathname + url.search + url.hash, url }
}

// Absolute, home-relative and dot-relative paths, or a folder plus an extension; optionally with line and column.
const file =
  /(?<![\p{L}\p{N}_/.~:@%+=-])(?:(?:~|\.{1,2})?\/[\p{L}\p{N}_.@%+=~,-]+(?:\/[\p{L}\p{N}_.@%+=~,-]+)*|[\p{L}\p{N}_.@%+=-]+(?:\/[\p{L}\p{N}_.@%+=-]+)*\/[\p{L}\p{N}_@%+=-][\p{L}\p{N}_.@%+=-]*\.[\p{L}\p{N}]{1,12})(?=$|[^\p{L}\p{N}_/])/gu

const findFiles = (text: string): FoundLink[] =>
  [...text.matchAll(file)].flatMap(({ 0: match, index }) => {
    const path = match.replace(/[.,~=-]+$/, '')
    // Rates, dates and divisions aren't files.
    if (!/[\p{L}_]/u.test(path) || path.length > 1024) return []
    return [{ start: index, end: index + path.length, target: { kind: 'file', path } }]
  })

/** Resolves relative paths against the shell's folder. */
export const fileInDevbox = (path: string, cwd: string | undefined): string =>
  cwd === undefined || /^[~/]/.test(path) ? path : `${cwd.replace(/\/$/, '')}/${path}`

/** The address the link text shows, if it differs from the target; null if it shows none or matches. */
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

/** Extensions more likely to end a hostname than a file. */
const commonEnding = /\.(?:com|org|net|io|dev|ai|app|gov|edu|co|us|uk|de|fr|eu|info|biz|cloud|tech|xyz|site|online)$/i

const isMachine = /^(?:localhost|[\d.]+|\[.*)$/i

export const addressParts = (url: URL): { before: string; host: string; after: string } => {
  const login = url.username || url.password ? `${url.username}${url.password ? ':…' : ''}@` : ''
  return {
    before: `${url.protocol}//${login}`,
    host: url.host,
    after: url.pathname === '/' && !url.search && !url.hash ? '' : url.pathname + url.search + url.hash,
  }
}

export interface FoundLink {
  start: number
  end: number
  target: LinkTarget
}

export type LinkTarget =
  | { kind: 'web'; url: URL }
  | { kind: 'port'; port: number; path: string; url: URL }
  | { kind: 'file'; path: string; line?: number }

const maxUrlLength = 2048

/** URLs and file paths in a line of output, in order and without overlaps. */
export const findLinks = (text: string): FoundLink[] => {
  const addresses = findAddresses(text)
  return [...addresses, ...findFiles(text, addresses)].sort((a, b) => a.start - b.start)
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

// Absolute, home-relative and dot-relative paths, or a folder plus an extension.
const file =
  /(?<![\p{L}\p{N}_/.~:@%+=-])(?:(?:~|\.{1,2})?\/[\p{L}\p{N}_.@%+=~,-]+(?:\/[\p{L}\p{N}_.@%+=~,-]+)*|[\p{L}\p{N}_.@%+=-]+(?:\/[\p{L}\p{N}_.@%+=-]+)*\/[\p{L}\p{N}_@%+=-][\p{L}\p{N}_.@%+=-]*\.[\p{L}\p{N}]{1,12})(?=$|[^\p{L}\p{N}_/])/gu

// A name alone needs a known extension and a line; otherwise `host.example:8080` would match.
const fileAtLine =
  /(?<![\p{L}\p{N}_/.~:@%+=-])[\p{L}\p{N}_@+=-][\p{L}\p{N}_.@+=-]*\.(?:[cm]?[jt]sx?|vue|svelte|astro|py|pyi|ipynb|rb|go|rs|java|kt|kts|scala|groovy|gradle|swift|dart|php|pl|pm|lua|jl|ex|exs|erl|hs|ml|clj|zig|nim|c|h|cc|cpp|cxx|hh|hpp|cs|fs|m|mm|sh|bash|zsh|fish|ps1|sql|graphql|proto|tf|css|scss|less|html?|xml|json|jsonc|ya?ml|toml|ini|cfg|conf|md|mdx|txt|log|diff|patch)(?=:\d|\(\d)/giu

/** As Python and Node.js print them; these may contain spaces. */
const pythonFile = /\bFile "([^"<>\p{Cc}]{1,1024})", line \d{1,7}/gu
const fileUrl = /\bfile:\/\/(\/[^\p{White_Space}\p{Cc}"'`<>()]{1,1024})/gu

// `:12`, `:12:5`, `(12,5)`, `", line 12`
const linePlace = /:(\d{1,7})(?::\d{1,7})?(?!\d)|\((\d{1,7})(?:, ?\d{1,7})?\)|", line (\d{1,7})/y

const findFiles = (text: string, addresses: readonly FoundLink[]): FoundLink[] => {
  const found: FoundLink[] = []
  const taken = new Uint8Array(text.length)
  for (const { start, end } of addresses) taken.fill(1, start, end)
  const add = (start: number, shown: string, path = shown) => {
    // Rates, dates and divisions aren't files.
    if (!/[\p{L}_]/u.test(path) || path.length > 1024) return
    linePlace.lastIndex = start + shown.length
    const place = linePlace.exec(text)
    const line = Number(place?.[1] ?? place?.[2] ?? place?.[3])
    const end = start + shown.length + (place && !place[3] ? place[0].length : 0)
    if (taken.subarray(start, end).includes(1)) return
    taken.fill(1, start, end)
    found.push({ start, end, target: { kind: 'file', path, ...(line > 0 && { line }) } })
  }
  for (const { 1: path = '', index } of text.matchAll(pythonFile)) add(index + 'File "'.length, path)
  for (const { 0: match, 1: path = '', index } of text.matchAll(fileUrl)) {
    const shown = trimPunctuation(path.replace(/(?::\d+){1,2}:?$/, ''))
    add(index, match.slice(0, 'file://'.length) + shown, decodedPath(shown))
  }
  for (const { 0: match, index } of text.matchAll(file)) add(index, match.replace(/[.,~=-]+$/, ''))
  for (const { 0: match, index } of text.matchAll(fileAtLine)) add(index, match)
  return found
}

const decodedPath = (path: string): string => {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Resolves relative paths against the shell's folder, or the home folder if that isn't known. */
export const fileInDevbox = (path: string, cwd: string | undefined): string => {
  const whole = /^~?\//.test(path) ? path : `${cwd?.replace(/\/$/, '') ?? '~'}/${path}`
  const [first = '', ...parts] = whole.split('/')
  const kept: string[] = []
  for (const part of parts) {
    if (part === '..') kept.pop()
    else if (part !== '.' && part !== '') kept.push(part)
  }
  return `${first}/${kept.join('/')}`
}

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
